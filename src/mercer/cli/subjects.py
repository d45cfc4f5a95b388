"""What an argument names: a file of data, a model file, or a kernel."""

from __future__ import annotations

import os
import zipfile

from mercer.errors import MercerError
from mercer.storage.format import HEADER

DATA, MODEL, KERNEL = "data", "model", "kernel"


def subject_of(given: str) -> str:
    """Which of them it is: files are known by their content, and anything else may be an expression."""
    if given == "-" or os.path.exists(given):
        return MODEL if _is_model(given) else DATA
    return KERNEL if _is_kernel(given) else DATA


def _is_model(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            return HEADER in archive.namelist()
    except (OSError, zipfile.BadZipFile, ValueError):
        return path.endswith(".mercer")  # a damaged model is a model: loading it says what is wrong


def _is_kernel(text: str) -> bool:
    from mercer._registry import KERNELS
    from mercer.kernels.text.expression import parse

    if os.sep in text or text.startswith("."):
        return False
    try:
        parse(text)
    except MercerError:
        return "(" in text or text in {entry.text for entry in KERNELS.values()}  # parsing it again says what is wrong
    return True
