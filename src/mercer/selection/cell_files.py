"""Model files of machines in cells: one kernel and one batch of support objects, and a machine for each part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

from mercer._registry import ESTIMATORS
from mercer._stored import Storable, Stored, checked_array, checked_value, from_stored, to_stored
from mercer._types import Float64, Indices
from mercer.errors import ModelFileError
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.training.certificate import Certificate
from mercer.training.probabilities import Calibration, calibration_of_temperature, refuse_damage

_MACHINE = ("coefficients", "intercept")


@final
@dataclass(frozen=True, eq=False)
class CellParts:
    """The content of a file about a model."""

    template: Any
    size: int
    neighbours: int
    probability: bool
    random_state: Any
    calibration: Calibration | None
    kernel: FittedKernel
    support: Objects
    edges: Indices
    centres: Objects
    sizes: Indices
    machines: list[Any]
    certificate: Certificate | None
    classes: npt.NDArray[Any] | None
    constant: Indices | None


def take_apart(model: Any, support: Objects, edges: Indices, constant: Indices | None) -> Stored:
    """The parts of a fitted model; arrays of cell i are named cell_i_..."""
    values: dict[str, Any] = {
        "estimator": type(model.estimator).__name__,
        "size": int(model.size),
        "neighbours": int(model.neighbours),
        "probability": bool(model.probability),
        "random_state": model.random_state if isinstance(model.random_state, int) else None,
    }
    arrays: dict[str, npt.NDArray[Any]] = {"sizes": model.sizes_, "edges": edges}
    if model.probability:
        calibration = model.calibration_
        arrays |= {"calibration_slopes": calibration.slopes, "calibration_offsets": calibration.offsets}
    cells: list[Any] = []
    for number, machine in enumerate(model.estimators_):
        if machine is None:
            cells.append(None)
            continue
        one = to_stored(machine)
        assert one.expansion is not None, "a machine without an expansion"
        cells.append(dict(one.values))
        own = {**one.arrays, "coefficients": one.expansion.coefficients, "intercept": one.expansion.intercept}
        arrays |= {f"cell_{number}_{name}": array for name, array in own.items()}
    values["cells"] = cells
    if constant is not None:
        arrays |= {"classes": model.classes_, "constant": constant}
    if model.certificate_ is not None:
        arrays["certificate"], values["dtype"] = model.certificate_.to_array(), model.certificate_.dtype
    nothing = Expansion(model.kernel_, support, np.zeros((len(support), 1)), np.zeros(1))
    params = model.estimator.get_params(deep=False)
    return Stored(params, values, arrays, nothing, {"centres": model.centres_})


def put_together(stored: Stored) -> CellParts:
    """The parts of a model, checked one by one, from a file that may be damaged or hostile."""
    values, arrays, machine = stored.values, stored.arrays, stored.expansion
    name = checked_value(values, "estimator", str)
    if name not in ESTIMATORS or machine is None or "centres" not in stored.objects:
        raise ModelFileError("its machines or its centres are missing.")
    kind: type[Storable] = ESTIMATORS[name].load()
    cells, centres = checked_value(values, "cells", list), stored.objects["centres"]
    trained = sum(cell is not None for cell in cells)
    edges = checked_array(arrays, "edges", "i", (trained + 1,)).astype(np.intp)
    if len(centres) != len(cells) or (np.diff(edges) < 0).any() or edges[0] != 0 or edges[-1] != len(machine.support):
        raise ModelFileError("its cells and its support objects do not fit together.")
    if not isinstance(centres, machine.kernel.kernel.domain):
        raise ModelFileError("its centres are objects of another kind.")
    machines: list[Any] = []
    place = 0
    for number, cell in enumerate(cells):
        if cell is None:
            machines.append(None)
            continue
        part = machine.support.take(slice(int(edges[place]), int(edges[place + 1])))
        machines.append(
            _machine(kind, stored, number, Expansion(machine.kernel, part, *_numbers(arrays, number, part)))
        )
        place += 1
    template: Any = kind
    classes, probability = arrays.get("classes"), checked_value(values, "probability", bool)
    calibration = _calibration(values, arrays, classes) if probability else None
    constant = None if classes is None else _constant(arrays, cells, classes)
    certificate = None
    if "certificate" in arrays:
        table = arrays["certificate"]
        certificate = Certificate.from_array(
            checked_array(arrays, "certificate", "f", (len(table), 7)), checked_value(values, "dtype", str)
        )
    return CellParts(
        template(**stored.params), checked_value(values, "size", int), _neighbours(values), probability,
        values.get("random_state"), calibration, machine.kernel, machine.support, edges, centres,
        checked_array(arrays, "sizes", "i", (len(cells),)).astype(np.intp), machines, certificate, classes, constant,
    )  # fmt: skip


def _neighbours(values: Any) -> int:
    """Older files do not say."""
    return int(checked_value(values, "neighbours", int)) if "neighbours" in values else 0


def _calibration(values: Any, arrays: Any, classes: npt.NDArray[Any] | None) -> Calibration:
    """The calibration of probabilities; older files have one temperature."""
    if classes is None:
        raise ModelFileError("its classes are missing.")
    n_classes = len(classes)
    if "temperature" in values:
        return calibration_of_temperature(values["temperature"], 1, n_classes)
    slopes = checked_array(arrays, "calibration_slopes", "f", (1,))
    return refuse_damage(Calibration(slopes, checked_array(arrays, "calibration_offsets", "f", (n_classes,))))


def _numbers(arrays: Any, number: int, part: Objects) -> tuple[Float64, Float64]:
    """Coefficients and intercepts of a cell."""
    found = arrays.get(f"cell_{number}_coefficients")
    outputs = found.shape[1] if found is not None and found.ndim == 2 else 1
    coefficients = checked_array(arrays, f"cell_{number}_coefficients", "f", (len(part), outputs))
    intercept = checked_array(arrays, f"cell_{number}_intercept", "f", (outputs,))
    if not (np.isfinite(coefficients).all() and np.isfinite(intercept).all()):
        raise ModelFileError("its coefficients are not finite.")
    return coefficients, intercept


def _machine(kind: type[Storable], stored: Stored, number: int, expansion: Expansion) -> Any:
    mark, cell = f"cell_{number}_", stored.values["cells"][number]
    if not isinstance(cell, dict):
        raise ModelFileError(f"its cell {number} is not a machine.")
    arrays = {name.removeprefix(mark): array for name, array in stored.arrays.items() if name.startswith(mark)}
    for name in _MACHINE:
        arrays.pop(name, None)
    return from_stored(kind, Stored(stored.params, cell, arrays, expansion))


def _constant(arrays: Any, cells: list[Any], classes: npt.NDArray[Any]) -> Indices:
    """The class of each cell with a single class, and -1 for the others."""
    constant = checked_array(arrays, "constant", "i", (len(cells),)).astype(np.intp)
    alone = np.array([cell is None for cell in cells])
    if classes.ndim != 1 or len(classes) < 2 or (constant[alone] < 0).any() or (constant >= len(classes)).any():
        raise ModelFileError("its classes do not fit its cells.")
    return constant
