"""``--cluster``: run the long work of a command on other machines."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from mercer.cli.output import OutputOptions


@contextlib.contextmanager
def on_cluster(cluster: str | None, output: OutputOptions) -> Iterator[None]:
    """Let a cluster do the long work inside, and report its traffic on stderr; None for this machine."""
    if cluster is None:
        yield
        return
    from mercer.cluster import use

    with use(cluster) as session:
        yield
        if not output.quiet:
            print(f"cluster: {session.count_moved()}", file=sys.stderr)
