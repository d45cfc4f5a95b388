"""`mercer serve`."""

from __future__ import annotations

import sys

from mercer.cli.subjects import model_at
from mercer.serving.http import application, serve
from mercer.serving.service import Service


def run(path: str, host: str, port: int, most_rows: int) -> None:
    """Load the model, print its address, and serve it until Ctrl-C."""
    service = Service(model_at(path), most_rows=most_rows)
    application(service)  # report missing packages before printing the address
    print(f"{path} answers at http://{host}:{port}/predict (what to send: /schema). Ctrl-C ends it.", file=sys.stderr)
    serve(service, host, port)
