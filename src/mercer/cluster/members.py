"""The workers of a cluster, beside their tasks: whether there are any, what they have installed, how much they sent."""

from __future__ import annotations

import importlib
import pydoc
from collections.abc import Callable, Mapping
from typing import Any

from mercer._version import __version__
from mercer.errors import ClusterError

_SECONDS_FOR_WORKERS = 30.0
"""How long a cluster may take to have its first worker. Queues of batch systems take longer: their users wait for
workers before they begin, as the message says."""
_NEEDED = "mercer.selection.fold_work"
"""The module that imports what fits need."""


def answers(client: Any, function: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """What each worker answers to a function, by its address; an exception where it fails."""
    found: dict[str, Any] = client.run(function, *arguments, on_error="return")
    return found


def require_some(client: Any, address: str) -> None:
    """Refuse a cluster without workers."""
    try:
        client.wait_for_workers(1, timeout=_SECONDS_FOR_WORKERS)
    except TimeoutError as error:
        raise ClusterError(
            f"The cluster at {address} had no worker for {_SECONDS_FOR_WORKERS:.0f} s. Start some (`dask worker "
            "ADDRESS`), or wait for those that a batch system will start: client.wait_for_workers(1)."
        ) from error


def require_this_version(client: Any) -> None:
    """Refuse workers that lack Mercer, or have another version of it."""
    found = answers(client, pydoc.locate, "mercer._version.__version__")
    wrong = {worker: version for worker, version in found.items() if version != __version__}
    if wrong:
        raise ClusterError(_wrong_workers(wrong))


def make_ready(client: Any) -> None:
    """Let workers import what most tasks need, all at the same time: it takes them seconds, which no time limit of a
    search should have to pay for.
    """
    answers(client, importlib.import_module, _NEEDED)


def bytes_sent(client: Any) -> dict[str, int]:
    """How many bytes each worker has sent to others and to clients since it was started."""
    return {worker: total for worker, total in answers(client, _bytes_sent).items() if isinstance(total, int)}


def _bytes_sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def _wrong_workers(wrong: Mapping[str, Any]) -> str:
    address, version = next(iter(wrong.items()))
    more = "" if len(wrong) == 1 else f", like {len(wrong) - 1} more"
    if isinstance(version, BaseException):
        return f"The worker at {address}{more} failed when it was asked for its version of Mercer: {version!r}."
    what = "has no Mercer" if version is None else f"has Mercer {version}, not {__version__}"
    return (
        f"The worker at {address} {what}{more}. Install mercer[dask] {__version__} in the environment of every worker "
        "(in its image, or with dask.distributed's PipInstall), and restart the workers."
    )
