"""`python -m mercer` is the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, which answers Ctrl-C itself; only while it is being imported somebody else has to."""
    try:
        from mercer.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
