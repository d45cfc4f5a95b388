"""Safe model files: arrays and a JSON header in a zip, without pickles or code.

    mercer.save(model, "model.mercer")
    model = mercer.load("model.mercer")

Loading an untrusted file executes none of its content: the header is audited first, classes are looked up in Mercer's
own tables, and every array is compared with the type, shape and checksum in the header.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from mercer.errors import MissingExtraError, ModelFileError
from mercer.inputs.plain import known_classes
from mercer.storage import atomic, models
from mercer.storage.audit import check_header
from mercer.storage.format import MAX_BYTES, opened, write

__all__ = ["load", "save"]


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file atomically: an existing file stays intact until the end.

    Python functions inside a kernel are not written; `load` needs them again.

    >>> import os, tempfile, mercer
    >>> model = mercer.SVC(kernel=mercer.kernels.Spectrum(2)).fit(["GATT", "ATTA", "CCGC", "CGCC"], [0, 0, 1, 1])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mercer.save(model, os.path.join(folder, "model.mercer"))
    ...     mercer.load(os.path.join(folder, "model.mercer")).predict(["GATTA"])
    array([0])
    """
    header, arrays = models.take_apart(model)
    with atomic.replacing(path) as stream:
        write(stream, header, arrays)


def load(
    path: str | os.PathLike[str],
    kernel: Any = None,
    *,
    classes: Iterable[type] = (),
    max_bytes: int = MAX_BYTES,
) -> Any:
    """Read a model that `save` wrote. Safe for untrusted files: raises ModelFileError, and executes nothing.

    `kernel` is needed if the model was trained with your own Python function, which files never contain: pass the same
    kernel (or function) as in training. `classes` lists your dataclasses and named tuples, if the model was trained on
    such objects. A file larger than `max_bytes` is refused before it is read.
    """
    name = os.fsdecode(path)
    with known_classes(classes):
        return _loaded(name, kernel, max_bytes)


def _loaded(name: str, kernel: Any, max_bytes: int) -> Any:
    try:
        with opened(name, max_bytes) as container:
            members = check_header(container.header)
            arrays = container.arrays(members)
        return models.put_together(container.header, arrays, kernel)
    except MissingExtraError:
        raise
    except ModelFileError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error}") from error
    except OSError as error:
        raise ModelFileError(f"Cannot load {name!r}: {error.strerror or error}.") from error
    except Exception as error:
        # Any error of a constructor or decoder, including MemoryError and RecursionError, means the same to the caller.
        raise ModelFileError(
            f"Cannot load {name!r}: the file is damaged, or was not written by Mercer. {type(error).__name__}: "
            f"{str(error)[:300]}"
        ) from error
