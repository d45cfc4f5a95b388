"""`python -m mercer` is the command line."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, which handles Ctrl-C itself; here it is handled only during the import."""
    try:
        from mercer.cli.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("error: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
