"""What a failure of a cluster means, in words."""

from __future__ import annotations

from typing import Any

from mercer.errors import ClusterError, MercerError

_MEMORY = (
    "Most often they ran out of memory: give workers more of it or fewer threads (`dask worker --memory-limit ... "
    "--nthreads 1`), or make blocks smaller. The logs of the workers say what happened."
)


def translated(error: BaseException, client: Any) -> BaseException:
    """The error to raise for one that came out of a task, or of the wait for it."""
    kind = type(error).__name__
    if isinstance(error, MercerError):
        return error
    if client.status != "running" and isinstance(error, OSError | AttributeError | RuntimeError):  # by what is gone
        return ClusterError(lost(client))
    if kind == "KilledWorker":
        return ClusterError(f"Part of the work was given to several workers, and each of them died. {_MEMORY}")
    if isinstance(error, MemoryError):
        return ClusterError(f"A worker has too little memory for its part of the work. {_MEMORY}")
    if isinstance(error, ModuleNotFoundError) and error.name is not None and error.name.partition(".")[0] == "mercer":
        return ClusterError("A worker has no Mercer. Install mercer[dask] in the environment of every worker.")
    if kind in ("FutureCancelledError", "CancelledError", "CommClosedError", "FuturesCancelledError"):
        return ClusterError(lost(client))
    return error


def lost(client: Any) -> str:
    """Why a client cannot go on."""
    if client.status in ("closed", "closing"):
        return "The client of the cluster is closed. Open a new one, Client(address), and fit again."
    if client.status == "running":
        return (
            "The work was cancelled: by another user of the cluster, by client.restart(), or because the connection to "
            "the scheduler was lost for a moment. Fit again."
        )
    return (
        "The connection to the scheduler was lost. Its machine may be down, or the network; a new scheduler starts "
        "with `dask scheduler`. Fit again with a new client."
    )
