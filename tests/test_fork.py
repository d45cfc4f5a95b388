"""Fits go on after a fork, beside other threads, in pools of all kinds and under signals; none of them hangs.

Cases run in processes of their own with a limit of time, so that a hang fails one test and not the suite.
"""

import os
import signal
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

COMMON = """
import os, signal, sys, threading, time, warnings
import numpy as np
from mercer import SVC, kernels
warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of forks beside threads
random = np.random.default_rng(0)
X = random.normal(size=(1200, 8))
y = (X[:, 0] * X[:, 1] + 0.1 * random.normal(size=1200) > 0).astype(int)

def fitted(seed=0):
    return SVC(gamma=0.2).fit(X, y).decision_function(X[:50])

def same(values):
    return np.array_equal(values, expected)

def child(job):
    number = os.fork()
    if not number:
        try:
            os._exit(0 if job() else 3)
        except BaseException:
            import traceback
            traceback.print_exc()
        finally:
            os._exit(4)
    return number

def ended(number):
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])

expected = fitted()  # starts the pool of this thread
"""

FORKED = """
def helped():
    return same(fitted()) and any(thread.name.startswith("mercer") for thread in threading.enumerate())
assert helped()
print([ended(child(helped)) for _ in range(3)])
"""

BESIDE_THREADS = """
stop = threading.Event()
def busy():
    while not stop.is_set():
        fitted()
threads = [threading.Thread(target=busy) for _ in range(2)]
for thread in threads:
    thread.start()
codes = []
for _ in range(12):
    time.sleep(0.013)
    codes.append(ended(child(lambda: same(fitted()))))
stop.set()
for thread in threads:
    thread.join()
print(set(codes), same(fitted()))
"""

BLAS_THREADS = """
from threadpoolctl import threadpool_info
def blas():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]
before = blas()
inside, go_on = threading.Event(), threading.Event()
from mercer._process import single_threaded_blas
def holds():
    with single_threaded_blas():
        inside.set()
        go_on.wait()
thread = threading.Thread(target=holds)
thread.start()
inside.wait()
code = ended(child(lambda: blas() == before))
go_on.set()
thread.join()
print(code, blas() == before)
"""

WHILE_A_LOCK_IS_HELD = """
from mercer import _process
held, go_on = threading.Event(), threading.Event()
def holds():
    with _process._guard:
        held.set()
        go_on.wait()
thread = threading.Thread(target=holds)
thread.start()
held.wait()
threading.Timer(0.2, go_on.set).start()
print(ended(child(lambda: same(fitted()))))
thread.join()
"""

MULTIPROCESSING = """
import multiprocessing
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(all(same(values) for values in pool.map(fitted, range(4))))
"""

LOKY = """
import joblib
print(all(same(values) for values in joblib.Parallel(n_jobs=2)(joblib.delayed(fitted)() for _ in range(3))))
"""

THREADS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    print(all(same(values) for values in pool.map(fitted, range(8))))
"""

ASYNCIO = """
import asyncio
async def main():
    loop = asyncio.get_running_loop()
    return await asyncio.gather(*(loop.run_in_executor(None, fitted) for _ in range(4)))
print(all(same(values) for values in asyncio.run(main())))
"""

SIGNALS = """
received = []
signal.signal(signal.SIGALRM, lambda number, frame: received.append(number))
signal.setitimer(signal.ITIMER_REAL, 0.003, 0.003)
found = [same(fitted()) for _ in range(5)]
signal.setitimer(signal.ITIMER_REAL, 0)
print(all(found), len(received) > 5)
"""

FORK_INSIDE_A_KERNEL = """
def forking(left, right):
    if threading.current_thread() is threading.main_thread():
        codes.append(ended(child(lambda: same(fitted()))))
    return left @ right.T
codes = []
kernels.FromBlocks(forking).fit(X[:60])(X[:60])
print(set(codes))
"""

ALONE = {
    "after a fit": (FORKED, "[0, 0, 0]"),
    "inside a kernel": (FORK_INSIDE_A_KERNEL, "{0}"),
    "multiprocessing": (MULTIPROCESSING, "True"),
    "loky": (LOKY, "True"),
    "threads": (THREADS, "True"),
    "asyncio": (ASYNCIO, "True"),
    "signals": (SIGNALS, "True True"),
}
HOLDING = {
    "beside fitting threads": (BESIDE_THREADS, "{0} True"),
    "while BLAS is held": (BLAS_THREADS, "0 True"),
    "while a lock is held": (WHILE_A_LOCK_IS_HELD, "0"),
}
"""With one thread of BLAS, as workers of pytest have, nothing would have to be held to one, and no lock be taken."""


@pytest.mark.parametrize(
    ("cases", "threads_of_blas"), [(ALONE, "1"), (HOLDING, "2")], ids=["by themselves", "while something is held"]
)
def test_no_fit_hangs(cases, threads_of_blas):
    """One after the other in one process; the last name that it says is that of the case that hangs."""
    script = COMMON + "".join(f"print({name!r}, flush=True)\n{case}" for name, (case, _) in cases.items())
    threads = {"OPENBLAS_NUM_THREADS": threads_of_blas, "OMP_NUM_THREADS": threads_of_blas}
    environment = {**os.environ, "MERCER_NUM_THREADS": "2", **threads}
    command = [sys.executable, "-c", script]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True, "start_new_session": True}
    with subprocess.Popen(command, env=environment, **pipes) as process:
        try:
            said, complained = process.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # with its children, which hold the pipes
            said, complained = process.communicate()
            pytest.fail(f"hangs: {said.splitlines()[-1:]}")
    expected = [line for name, (_, answer) in cases.items() for line in (name, answer)]
    assert said.splitlines() == expected, complained[-2000:]
