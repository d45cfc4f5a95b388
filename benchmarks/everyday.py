"""What people do all day, from 60 objects to 20,000, beside scikit-learn and its Intel extension: where are we slower?

    python benchmarks/everyday.py                                  # everything; an hour or more
    python benchmarks/everyday.py --sizes 60,300 --cases SVC --parts fit,predict
    python benchmarks/everyday.py --seconds 5 --output everyday.json
    python benchmarks/everyday.py --clock processor                # on a machine that is busy with something else

Systems take turns in one process and the best of several runs counts, so that a busy machine slows all alike. A process
whose system takes longer than `--seconds` for one call is ended, and that call counts as having taken so long. Ratios
are the time of a peer over ours: above 1 we are faster. `agree` says how much the answers have in common with
scikit-learn's: the share of equal labels, or 1 less the relative distance of numbers.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from everyday_cases import (
    DECISION,
    FIT,
    INTELEX,
    MERCER,
    ONE_ROW,
    PARTS,
    SIZES,
    SKLEARN,
    Case,
    Size,
    cases,
    data,
    suits,
)
from timing import seconds as seconds_of

CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}

TURNS = 5
ENOUGH = 0.3
"""Short calls are repeated until so many seconds went into them, since the first few of them are never the best ..."""
MOST_TURNS = 50
"""... but no more often than that."""
LONG = 2.0
"""Who takes longer than so many seconds is timed once more at most."""
NOISE = 0.9
"""Ratios down to this are noise."""
START_SECONDS = 120.0
"""A new process may import and compile for so long before a call of it counts as too slow."""

Times = dict[str, dict[str, float]]
"""Seconds by part and system."""


@dataclass
class Measured:
    """One case at one size."""

    case: str
    n: int
    size: str
    times: Times = field(default_factory=dict)
    agree: float = math.nan

    def ratio(self, part: str, peer: str = SKLEARN) -> float:
        """The time of a peer over ours; nan if either was not measured."""
        found = self.times.get(part, {})
        return found[peer] / found[MERCER] if peer in found and MERCER in found else math.nan


# ------------------------------------------------------------------------------------------------- in the other process


def work(pipe: Any) -> None:
    """Measure what the parent asks for, telling it what begins and what is known."""
    warnings.simplefilter("ignore")
    known = {case.name: case for case in cases()}
    while (asked := pipe.recv()) is not None:
        name, size, parts, systems, limit, clock = asked
        for message in measure(known[name], size, parts, systems, Watch(limit, CLOCKS[clock], pipe.send)):
            pipe.send(message)
        pipe.send(("done",))


@dataclass(frozen=True)
class Watch:
    """How times are taken: the limit of a call, the clock, and who is told what begins."""

    limit: float
    clock: Callable[[], float]
    tell: Callable[[Any], None]


def measure(
    case: Case, size: Size, parts: tuple[str, ...], systems: list[str], watch: Watch
) -> Iterator[tuple[Any, ...]]:
    """Times of all parts of a case, as messages."""
    given = data(size, case.target)
    X, new = (given.X, given.new) if not case.precomputed else (given.X @ given.X.T, given.new @ given.X.T)
    fitted: dict[str, Any] = {}
    for part in (one for one in PARTS if one == FIT or one in case.parts):  # nothing is predicted before a fit
        calls = {who: _call(part, case.systems[who], fitted, who, X, given.y, new) for who in systems}
        turns = TURNS if part in parts else 1

        def begin(who: str, part: str = part) -> None:
            watch.tell(("begin", part, who))

        for who, took in in_turns(calls, watch, turns, begin):
            if part in parts:
                yield "time", part, who, took
        if part == FIT and SKLEARN in fitted and MERCER in fitted:
            yield "agree", agreement(*(_answer(fitted[who], case.answer, new) for who in (MERCER, SKLEARN)))


def in_turns(
    calls: dict[str, Callable[[], Any]], watch: Watch, turns: int, begin: Callable[[str], None]
) -> Iterator[tuple[str, float]]:
    """The best times of calls, each told as soon as it is better than before; a first turn warms up."""
    best, spent = dict.fromkeys(calls, math.inf), dict.fromkeys(calls, 0.0)
    for turn in range(MOST_TURNS):
        running = [who for who in calls if turn < 2 or not _enough(turn, turns, best[who], spent[who])]
        for who in running:
            compiles = who == MERCER and turn == 1  # only the second time tells how long ours takes
            if turn and best[who] > min(LONG, watch.limit / 4) and not compiles:
                continue
            begin(who)
            took = seconds_of(calls[who], clock=watch.clock)
            spent[who] += took
            if took < best[who]:
                best[who] = took
                yield who, took
        if not running:
            return


def _enough(turn: int, turns: int, best: float, spent: float) -> bool:
    return turn > turns and (turns == 1 or spent > ENOUGH or best > ENOUGH / TURNS)


def _call(
    part: str, make: Callable[[], Any], fitted: dict[str, Any], who: str, X: Any, y: Any, new: Any
) -> Callable[[], Any]:
    if part == FIT:
        return lambda: fitted.__setitem__(who, make().fit(X, y))
    model = fitted[who]
    method = getattr(model, "decision_function" if part == DECISION else _predicting(model))
    return lambda: method(new[:1] if part == ONE_ROW else new)


def _predicting(model: Any) -> str:
    return "predict" if hasattr(model, "predict") else "transform"


def _answer(model: Any, answer: str, new: Any) -> Any:
    found = getattr(model, answer)
    return np.asarray(found(new) if callable(found) else found)


def agreement(ours: Any, theirs: Any) -> float:
    """How much two answers have in common; signs of components and names of clusters do not matter."""
    if ours.dtype.kind in "iu" and theirs.dtype.kind in "iu":
        from sklearn.metrics import adjusted_rand_score

        return max(float(np.mean(ours == theirs)), float(adjusted_rand_score(ours, theirs)))
    ours, theirs = np.abs(ours), np.abs(theirs)
    return 1.0 - float(np.linalg.norm(ours - theirs) / max(np.linalg.norm(theirs), 1e-300))


# ---------------------------------------------------------------------------------------------------------- in this one


class Worker:
    """A process that measures, and is replaced when one of its calls takes too long."""

    def __init__(self, limit: float, clock: str) -> None:
        self._limit, self._clock = limit, clock
        self._context = multiprocessing.get_context("spawn")
        self._process: Any = None
        self._pipe: Any = None

    def run(self, case: Case, size: Size, parts: tuple[str, ...], systems: list[str]) -> Measured:
        """All that is known of a case: who is too slow in a part is left out of the others."""
        found = Measured(case.name, size.n, str(size))
        wanted, left = list(systems), list(parts)
        while MERCER in wanted and len(wanted) > 1 and left:
            slow = self._attempt(case, size, tuple(left), wanted, found)
            if slow is None:
                break
            part, who = slow
            found.times.setdefault(part, {}).setdefault(who, self._limit)
            wanted.remove(who)
            left = [one for one in left if part == FIT or PARTS.index(one) >= PARTS.index(part)]
        return found

    def _attempt(
        self, case: Case, size: Size, parts: tuple[str, ...], systems: list[str], found: Measured
    ) -> tuple[str, str] | None:
        """Run it; if a call takes too long, the part and the system."""
        fresh = self._process is None
        if fresh:
            self._start()
        self._pipe.send((case.name, size, parts, systems, self._limit, self._clock))
        running, patience = (FIT, systems[0]), self._limit + START_SECONDS
        seen: set[tuple[str, str]] = set()
        while self._pipe.poll(patience):
            try:
                kind, *message = self._pipe.recv()
            except EOFError:
                break
            if kind == "done":
                return None
            if kind == "begin":
                running = message[0], message[1]
                # The first call of ours may compile.
                patience = self._limit + (START_SECONDS if running not in seen and running[1] == MERCER else 0.0)
                seen.add(running)
            elif kind == "time":
                part, who, took = message
                times = found.times.setdefault(part, {})
                times[who] = min(took, times.get(who, math.inf))
            else:
                found.agree = message[0]
        self.close()
        return running

    def _start(self) -> None:
        self._pipe, other = self._context.Pipe()
        self._process = self._context.Process(target=work, args=(other,), daemon=True)
        self._process.start()
        other.close()

    def close(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


# --------------------------------------------------------------------------------------------------------------- tables


def shown(measured: Measured, parts: tuple[str, ...]) -> Iterator[str]:
    """One line for each part."""
    for part in (one for one in parts if one in measured.times):
        times = measured.times[part]
        cells = "".join(f"{_time(times.get(who)):>12}" for who in (MERCER, SKLEARN, INTELEX))
        ratios = "".join(f"{_ratio(measured.ratio(part, peer)):>9}" for peer in (SKLEARN, INTELEX))
        yield f"{measured.case:<28}{measured.size:<22}{part:<10}{cells}{ratios}{measured.agree:>9.4f}"


def summary(found: list[Measured], parts: tuple[str, ...]) -> Iterator[str]:
    """Geometric means of each size and part, and every case in which we are slower."""
    yield ""
    yield "geometric means of scikit-learn's time over ours, and of intelex's, by number of objects"
    for n in sorted({one.n for one in found}):
        for part in parts:
            means = []
            for peer in (SKLEARN, INTELEX):
                ratios = [ratio for one in found if one.n == n and not math.isnan(ratio := one.ratio(part, peer))]
                means.append(
                    f"{math.exp(np.mean(np.log(ratios))):9.2f}x of {len(ratios):3}" if ratios else f"{'-':>17}"
                )
            if any("x" in mean for mean in means):
                yield f"  {n:>6} {part:<10}{'  '.join(means)}"
    ratios = [(one.ratio(part), one, part) for one in found for part in parts]
    slower = sorted((line for line in ratios if line[0] < NOISE), key=lambda line: line[0])
    yield ""
    yield f"slower than scikit-learn (ratio below {NOISE}): {len(slower)}"
    for ratio, one, part in slower:
        times = one.times[part]
        both = "".join(f"{_time(times[who]):>12}" for who in (MERCER, SKLEARN))
        yield f"  {ratio:5.2f}x  {one.case:<28}{one.size:<22}{part:<10}{both}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{1e3 * seconds:.3f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


def _ratio(ratio: float) -> str:
    return "-" if math.isnan(ratio) else f"{ratio:.2f}x"


# ----------------------------------------------------------------------------------------------------------------- main


def main() -> None:
    """Read the arguments, measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", default="", help="names of cases that contain one of these, separated by |")
    parser.add_argument("--sizes", default="", help="numbers of objects, or sizes such as '1000 x 20', by commas")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--peers", default=f"{SKLEARN},{INTELEX}")
    parser.add_argument("--seconds", type=float, default=20.0, help="the limit for one call")
    parser.add_argument(
        "--clock", choices=list(CLOCKS), default="wall", help="what counts: processors count all threads"
    )
    parser.add_argument("--output", type=Path, help="a JSON file with every time")
    given = parser.parse_args()
    parts = tuple(one.strip() for one in given.parts.split(","))
    if unknown := set(parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    chosen = [
        (case, size)
        for size in SIZES
        if not given.sizes or {str(size.n), str(size)} & {one.strip() for one in given.sizes.split(",")}
        for case in cases()
        if suits(case, size) and any(part in case.name for part in given.cases.split("|"))
    ]
    if not chosen:
        parser.error("no case has such a name and such a size")
    print(f"{'':<60}{MERCER:>12}{SKLEARN:>12}{INTELEX:>12}{'ratio':>9}{'ratio':>9}{'agree':>9}")
    began, found, worker = time.monotonic(), [], Worker(given.seconds, given.clock)
    try:
        for case, size in chosen:
            systems = [who for who in case.systems if who == MERCER or who in given.peers.split(",")]
            found.append(worker.run(case, size, parts, systems))
            for text in shown(found[-1], parts):
                print(text, flush=True)
    finally:
        worker.close()
        for text in summary(found, parts):
            print(text)
        if given.output is not None:
            given.output.write_text(json.dumps([asdict(one) for one in found], indent=1))
    print(f"\n{len(found)} cases in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
