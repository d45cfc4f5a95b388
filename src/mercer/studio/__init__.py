"""Mercer Studio: a local web application with a playground, a workbench and a lab.

Three kinds of process: the server (`server.py`), which computes nothing and never imports Numba; one warm worker for
everything that answers at once (`worker.py`, `desk.py`); and one process per search (`job.py`). What lasts is plain
files (`projects.py`).
"""
