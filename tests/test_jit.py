"""Compiled loops: the cache named by all that their code depends on, absent where nothing is writable; decorating."""

import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import mercer
from mercer import _jit

SOURCE = Path(mercer.__file__).parent


@pytest.fixture
def package(tmp_path):
    """A package with a function that calls one in another file, compiled through our decorator."""
    home = tmp_path / "src" / "mercer"
    home.mkdir(parents=True)
    for name in ("_compiled.py", "_jit.py", "_process.py"):
        shutil.copy(SOURCE / name, home)
    (home / "__init__.py").touch()
    (home / "callee.py").write_text("from mercer._jit import jit\n\n@jit\ndef inner(x):\n    return x + 10\n")
    (home / "caller.py").write_text(
        textwrap.dedent("""
            from mercer._jit import jit
            from mercer.callee import inner

            @jit
            def outer(x):
                return 2 * inner(x)

            @jit
            def beyond(array):
                return array[array.shape[0] + 3]
        """)
    )
    return tmp_path


def run(package, program, *arguments, **environment):
    settings = {"PYTHONPATH": str(package / "src"), "NUMBA_CACHE_DIR": str(package / "cache"), "HOME": str(package)}
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("NUMBA_", "XDG_", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-B", "-c", textwrap.dedent(program), *arguments],
        env=clean | settings | environment,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


OUTER = "from mercer.caller import outer; print(outer(1), sum(outer.stats.cache_hits.values()))"
BOTH = f"""{OUTER}
from pathlib import Path
from mercer import _compiled, caller
folder = _compiled.folder_of(Path(caller.__file__))
print(folder and folder.name)"""


ALONE = "from mercer.stranger import alone; print(alone(1), sum(alone.stats.cache_hits.values()))"


def test_editing_a_file_compiles_anew_what_depends_on_it_and_nothing_else(package):
    home = package / "src/mercer"
    (home / "stranger.py").write_text("from mercer._jit import jit\n\n@jit\ndef alone(x):\n    return -x\n")
    program = f"{ALONE}\n{BOTH}"
    *first, key = run(package, program).stdout.split()
    assert first == ["-1", "0", "22", "0"]
    assert run(package, program).stdout.split() == ["-1", "1", "22", "1", key]  # from the cache
    callee = home / "callee.py"
    callee.write_text(callee.read_text().replace("x + 10", "x + 100"))
    *edited, other = run(package, program).stdout.split()
    assert edited == ["-1", "1", "202", "0"]
    assert other != key


SUMS = """
import hashlib, sys
import numpy as np
from mercer.sums import inner
from mercer.caller import outer
x, y = np.random.default_rng(0).normal(size=(2, 60))
if "first" in sys.argv:
    inner(x, y, 5)
values = " ".join(outer(x, y, n).hex() for n in range(1, 33))
print(sum(outer.stats.cache_hits.values()), hashlib.sha256(values.encode()).hexdigest())"""


def test_bits_depend_neither_on_the_cache_nor_on_what_was_called_before(package):
    home, sums = package / "src/mercer", range(24)  # so many that LLVM leaves `inner` a function
    lines = ["from mercer._jit import jit", "@jit", "def inner(x, y, n):", *(f"    s{k} = 0.0" for k in sums)]
    for k in sums:
        lines += ["    for i in range(n):", f"        s{k} += x[i + {k}] * y[n - i + {k}]"]
    (home / "sums.py").write_text("\n".join([*lines, "    return " + " * ".join(f"s{k}" for k in sums)]))
    calls = "@jit\ndef outer(x, y, n):\n    return inner(x, y, n) - 3.0 * inner(y, x, n)\n"
    (home / "caller.py").write_text(f"from mercer._jit import jit\nfrom mercer.sums import inner\n\n{calls}")
    compiled, read, afterwards = (run(package, SUMS, *given).stdout.split() for given in ([], [], ["first"]))
    assert [compiled[0], read[0], afterwards[0]] == ["0", "1", "1"]  # hits of the cache
    assert compiled[1] == read[1] == afterwards[1]


def test_every_form_of_import_is_followed(package):
    lines = [
        "from mercer.rooms.middle import outer",
        "from mercer.rooms import (\n    other,\n    middle,\n)",
        "from mercer.rooms import middle as renamed",
        "import mercer.rooms.middle",
        "def late():\n    from mercer.rooms.middle import outer",
    ]
    home = package / "src/mercer"
    (home / "rooms").mkdir()
    (home / "rooms/__init__.py").touch()
    (home / "rooms/middle.py").write_text("from mercer._jit import jit\nfrom mercer.callee import inner as outer\n")
    (home / "rooms/other.py").write_text("nothing = 0  # no loop here\n")
    for number, line in enumerate(lines):
        (home / f"asking{number}.py").write_text(f"from mercer import _jit\n{line}\n")
    program = """
        from pathlib import Path
        from mercer import _compiled
        home = Path(_compiled.__file__).parent
        for path in sorted(home.glob("asking*.py")):
            print(*sorted(str(found.relative_to(home)) for found in _compiled._dependencies(path)))
    """
    told = run(package, program).stdout.splitlines()
    assert len(told) == len(lines)
    for number, found in enumerate(told):
        assert found == f"_compiled.py _jit.py asking{number}.py callee.py rooms/middle.py", lines[number]


def test_flags_of_numba_are_part_of_the_key(package):
    """One process, which asks anew for the folder of each environment."""
    program = """
        import json, os, sys
        from mercer import _compiled

        for flags in json.loads(sys.argv[1]):
            _compiled.cache_folder.cache_clear()
            _compiled._build_key.cache_clear()
            before = dict(os.environ)
            os.environ.update(flags)
            print(_compiled.cache_folder().name)
            os.environ.clear()
            os.environ.update(before)
    """
    settings = [{}, {"NUMBA_BOUNDSCHECK": "1"}, {"NUMBA_OPT": "1"}, {"NUMBA_CACHE_DIR": str(package / "other")}]
    settings.append({"NUMBA_NUM_THREADS": "1", "NUMBA_THREADING_LAYER": "omp"})
    keys = run(package, program, json.dumps(settings)).stdout.split()
    assert len(keys) == 5
    assert keys[0] == keys[3]  # where the cache lies changes nothing in the code
    assert keys[0] == keys[4]  # nor do threads of Numba's, which joblib sets in its workers
    assert len(set(keys)) == 3


def test_an_out_of_bounds_read_is_caught_although_an_unchecked_cache_exists(package):
    program = """
        import numpy as np
        from mercer.caller import beyond
        beyond(np.zeros(4))
        print("read", sum(beyond.stats.cache_hits.values()))
    """
    assert run(package, program).stdout == "read 0\n"
    checked = run(package, program, NUMBA_BOUNDSCHECK="1")
    assert checked.returncode != 0
    assert "IndexError: index is out of bounds" in checked.stderr
    assert run(package, program).stdout == "read 1\n"  # from the unchecked cache, which was there


def test_without_a_writable_folder_there_is_no_cache_and_no_error(package):
    blocked = package / "file"
    blocked.write_text("not a folder")
    nowhere = {"NUMBA_CACHE_DIR": str(blocked), "HOME": str(blocked), "XDG_CACHE_HOME": str(blocked)}
    for _ in range(2):
        result = run(package, BOTH, **nowhere)
        assert (result.stdout.split(), result.stderr) == (["22", "0", "None"], "")


def test_the_next_folder_is_tried(package):
    blocked = package / "file"
    blocked.write_text("not a folder")
    where = "from mercer._compiled import cache_folder; print(cache_folder())"
    found = run(package, where, NUMBA_CACHE_DIR=str(blocked), XDG_CACHE_HOME=str(package / "xdg")).stdout
    assert found.startswith(str(package / "xdg" / "mercer" / "numba"))


def test_the_users_own_cache_folder_is_put_back(package):
    program = """
        import numba
        before = numba.config.CACHE_DIR
        import mercer.caller
        print(numba.config.CACHE_DIR == before)
    """
    assert run(package, program).stdout == "True\n"


def test_decorating():
    @_jit.jit(cache=False)
    def double(x):
        return 2 * x

    assert double(4) == 8
    assert _jit.is_jitted(double)
    assert not _jit.is_jitted(len)
    options = double.targetoptions
    assert options["nogil"]
    assert options["error_model"] == "numpy"
    assert not options.get("parallel", False)
    assert set(options["fastmath"]) == _jit.FASTMATH
    assert _jit.FASTMATH.isdisjoint({"nnan", "ninf", "fast"})


@pytest.mark.skipif(sys.platform == "win32", reason="no-run: Windows has no SIGINT to send to one process")
def test_an_interrupt_is_not_lost_while_compiling(package):
    # Numba's hook is called by LLVM, from C: what is raised in it goes nowhere.
    program = """
        import os, signal
        from numba.core.codegen import JITCPUCodegen

        library = JITCPUCodegen._library_class
        plain = library._object_compiled_hook
        def interrupted(*arguments):
            os.kill(os.getpid(), signal.SIGINT)
            plain(*arguments)
        library._object_compiled_hook = interrupted

        from mercer.callee import inner
        try:
            print("went on", inner(1))
        except KeyboardInterrupt:
            print("interrupted, and then", inner(1))
    """
    told = run(package, program)
    assert told.stdout == "interrupted, and then 11\n", told.stderr
    assert told.stderr == ""


def test_numba_is_imported_when_a_loop_is_called(package):
    program = """
        import sys
        from mercer import caller
        before, name = "numba" in sys.modules, caller.outer.__name__
        kept = caller.outer  # somebody's own reference
        print(before, name, type(kept).__name__, kept(1), kept(2))
        print(type(caller.outer).__name__, type(caller.inner).__name__, caller.outer(3))
    """
    assert run(package, program).stdout.splitlines() == ["False outer Loop 22 24", "CPUDispatcher CPUDispatcher 26"]


def test_loops_that_nobody_put_into_place_compute_as_well(package):
    program = """
        import pickle, threading
        from mercer._jit import is_jitted, jit
        from mercer.callee import inner

        def make(function):
            @jit(cache=False)
            def outer(x):
                return 3 * function(x)

            return outer

        outer, told = make(inner), []  # closes over what stands for a loop
        threads = [threading.Thread(target=lambda: told.append(outer(1))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(told, is_jitted(outer), is_jitted(print), pickle.loads(pickle.dumps(inner))(1))
    """
    assert run(package, program).stdout == "[33, 33, 33, 33] True False 11\n"


TWINS = """
from mercer._jit import jit

def twin(x):
    return "twin"

@jit(plain=twin)
def loop(x):
    return x + 1

@jit
def other(x):
    return loop(x) + 1
"""


def test_twins_in_numpy_work_where_numba_is_spared(package):
    (package / "src/mercer/twins.py").write_text(TWINS)
    program = """
        import sys
        from mercer import twins
        from mercer._jit import numba_spared
        with numba_spared(10):
            print(twins.loop(1), "numba" in sys.modules, twins.other(1), twins.loop(1))
        print(twins.loop(1))
        with numba_spared(10):
            print(twins.loop(1))
    """
    assert run(package, program).stdout.splitlines() == ["twin False 3 twin", "2", "2"]
    large = (
        "from mercer import twins\nfrom mercer._jit import numba_spared\nwith numba_spared(1e12): print(twins.loop(1))"
    )
    assert run(package, large).stdout == "2\n"
