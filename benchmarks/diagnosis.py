"""What a diagnosis says training will cost, beside what it costs.

    python benchmarks/diagnosis.py                 # about two minutes
    python benchmarks/diagnosis.py --cases a9a,letter

For each case the estimate of `diagnose(...).cost`, then the measured time of the fit that it speaks of, with default
parameters, and their ratio: above 1, the estimate was too high.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))

from mercer import SVC, KernelRidge, diagnose, kernels  # noqa: E402
from mercer.gram.make import gram_of  # noqa: E402

CASES: dict[str, tuple[str, int, Any, Any]] = {
    "a9a": ("vectors/a9a", 12_000, kernels.RBF(0.05), SVC),
    "ijcnn1": ("vectors/ijcnn1", 15_000, kernels.RBF(1.0), SVC),
    "letter": ("vectors/letter", 6_000, kernels.RBF(0.05), SVC),
    "strings": ("strings/splice_junction", 3_000, kernels.normalise(kernels.Spectrum(4)), SVC),
    "graphs": ("graphs/NCI1", 4_000, kernels.WeisfeilerLehman(3), SVC),
    "regression": ("vectors_regression/kin40k", 5_000, kernels.RBF(0.5), KernelRidge),
}


def objects(folder: Path, name: str, n: int) -> tuple[Any, Any]:
    spec = importlib.util.spec_from_file_location("load", folder / "load.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    splits = module.load(name)
    X, y = splits[next(iter(splits))]
    chosen = np.sort(np.random.default_rng(0).permutation(len(y))[:n])
    y = np.asarray(y)[chosen]
    if name.startswith("graphs"):
        keys = {"node_labels": "labels"}
        items = [{"nodes": X[i]["n"], "edges": X[i]["edges"].reshape(-1, 2)} for i in chosen]
        for item, i in zip(items, chosen, strict=True):
            item |= {keys[key]: X[i][key][:, 0] for key in keys if X[i][key] is not None}
        return items, y
    if hasattr(X, "tocsr"):
        return X.tocsr()[chosen], y
    return (np.asarray(X, dtype=float)[chosen] if name.startswith("vectors") else [X[i] for i in chosen]), y


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--cases", default=",".join(CASES))
    asked = parser.parse_args()
    for case in asked.cases.split(","):
        name, n, kernel, machine = CASES[case]
        X, y = objects(asked.data, name, n)
        parsed = kernel.coerce(X)
        diagnose(kernel, parsed.take(np.arange(200)), y[:200])  # compiles
        began = time.perf_counter()
        cost = diagnose(kernel, parsed, y).cost
        seconds = time.perf_counter() - began
        assert cost is not None
        began = time.perf_counter()
        gram_of(kernel.fit(parsed), parsed).dense()
        gram = time.perf_counter() - began
        began = time.perf_counter()
        machine(kernel=kernel).fit(parsed, y)
        training = time.perf_counter() - began
        print(
            f"{case:11s} {len(y):6,} objects  {cost.machine:12s} said {cost.training_seconds:7.2f} s, took "
            f"{training:7.2f} s ({cost.training_seconds / training:4.2f} x)   matrix said {cost.gram_seconds:6.2f} s, "
            f"took {gram:6.2f} s ({cost.gram_seconds / gram:4.2f} x)   diagnosis {seconds:5.2f} s",
            flush=True,
        )


if __name__ == "__main__":
    main()
