"""Which cluster, and for which work.

Lazy input (`dask.array`, `dask.dataframe`, `dask.bag`) goes to the current client, as usual with Dask. Everything else
stays on this machine, except inside ``with cluster.use(client):``.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import weakref
from collections.abc import Iterator
from typing import Any

from mercer.cluster.executor import Workers
from mercer.cluster.session import Session
from mercer.errors import ClusterError, ParameterError, missing_extra
from mercer.gram import executors

_sessions: weakref.WeakKeyDictionary[Any, Session] = weakref.WeakKeyDictionary()
_LOCAL = "local:"
_DEAF = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"
"""For workers of this machine: Ctrl-C in a terminal goes to all processes, and each would show a traceback. The one
that started them ends them."""
_WITH_PORTS = ("tcp", "tls")
_SECONDS_TO_CONNECT = 10.0
"""How long a scheduler may take to answer: those that are there answer within a second or two."""


def distributed() -> Any:
    """The module, which needs an extra."""
    try:
        import distributed
    except ImportError:
        raise missing_extra("mercer.cluster", "dask.distributed", "dask") from None
    return distributed


def session_of(client: Any) -> Session:
    """The session of a client, the same each time."""
    if client not in _sessions:
        _sessions[client] = Session(client)
    return _sessions[client]


def current() -> Session | None:
    """The session of `use`, or of the client that was opened last; None if there is neither."""
    executor = executors.elsewhere()
    if isinstance(executor, Workers):
        return executor.session
    try:
        return session_of(distributed().get_client())
    except ValueError:  # there is no client
        return None


@contextlib.contextmanager
def use(cluster: Any) -> Iterator[Session]:
    """Let the workers of a cluster do the long work inside: searches, Gram matrices of expensive kernels, blocks.

    Parameters
    ----------
    cluster : a `dask.distributed.Client`, a cluster such as `LocalCluster` or `SLURMCluster`, the address of a
        scheduler (``"tcp://host:8786"``), or ``"local:4"`` for four processes of this machine, which end with the
        block.

    The session that it yields counts what goes over the network.

    >>> from mercer import SVC, KernelSearchCV, cluster
    >>> X, y = [[float(i % 7)] for i in range(40)], [i % 7 > 2 for i in range(40)]
    >>> with cluster.use("local:2") as session:  # doctest: +SKIP
    ...     search = KernelSearchCV(SVC(), {"C": [1.0, 10.0]}).fit(X, y)
    ...     print(session.count_moved())
    """
    with contextlib.ExitStack() as stack:
        session = session_of(_client(cluster, stack))
        with session.speaking():
            session.require_workers()
        stack.callback(session.close)
        with executors.working_elsewhere(Workers(session)):
            yield session


def _client(cluster: Any, stack: contextlib.ExitStack) -> Any:
    module = distributed()
    if isinstance(cluster, module.Client):
        return cluster
    if isinstance(cluster, str) and cluster.startswith(_LOCAL):
        return _local(cluster.removeprefix(_LOCAL), stack)
    if not isinstance(cluster, str) and not hasattr(cluster, "scheduler_address"):
        raise ParameterError(
            "The cluster must be a client of dask.distributed, a cluster, the address of a scheduler, or 'local:N'. "
            f"Got {cluster!r} instead."
        )
    if isinstance(cluster, str):
        _require_port(cluster)
    try:
        return stack.enter_context(module.Client(cluster, set_as_default=False, timeout=_SECONDS_TO_CONNECT))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise ClusterError(
            f"There is no scheduler at {cluster}: {reason}. Start one with `dask scheduler`, which "
            "prints its address, or use 'local:N' for N processes of this machine."
        ) from error


def _require_port(address: str) -> None:
    """Refuse what can be no address at once: a client that was made with it takes half a minute to give up."""
    comm: Any = importlib.import_module("distributed.comm")  # has no types
    try:
        protocol, place = comm.parse_address(address)
        comm.registry.get_backend(protocol)
        if protocol in _WITH_PORTS:
            comm.parse_host_port(place)
    except ValueError as error:
        raise ParameterError(
            f"{address!r} is not the address of a scheduler: {error}. `dask scheduler` prints its address, such as "
            "'tcp://host:8786'; 'local:2' starts two processes of this machine."
        ) from error


def _local(number: str, stack: contextlib.ExitStack) -> Any:
    if not (number.isdigit() and 0 < int(number) <= 1024):
        raise ParameterError(f"'local:N' needs a number of processes, such as 'local:2'. Got 'local:{number}' instead.")
    module, nannies = distributed(), logging.getLogger("distributed.nanny")
    try:
        made = module.LocalCluster(
            n_workers=int(number),
            threads_per_worker=1,
            dashboard_address=":0",
            scheduler_port=0,
            host="127.0.0.1",
            preload=[*importlib.import_module("dask.config").get("distributed.worker.preload"), _DEAF],
        )
    except RuntimeError as error:
        raise ClusterError(
            "The processes of 'local:N' did not start. Each imports the script that starts them: there, what starts "
            "them must stand in a function, or under `if __name__ == '__main__':`."
        ) from error
    stack.callback(nannies.setLevel, nannies.level)
    stack.enter_context(made)
    stack.callback(nannies.setLevel, logging.ERROR)  # that workers in the middle of a task are killed is as meant
    return stack.enter_context(module.Client(made, set_as_default=False))
