"""Many small machines for many objects: one in each Voronoi cell of the kernel's own geometry."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored
from mercer._types import Float64, Indices
from mercer.errors import InputError, ModelFileError
from mercer.gram.executors import Threads
from mercer.gram.expansion import Expansion
from mercer.gram.voronoi import Division
from mercer.inputs.base import Objects
from mercer.inputs.streamed import Streamed
from mercer.kernels.base import FittedKernel
from mercer.kernels.memory import calls
from mercer.kernels.weighing import weighing
from mercer.selection import cell_files
from mercer.selection.cell_work import SURE, CellTargets, CellWork, TrainedCell, class_values
from mercer.selection.tags import with_inner_tags
from mercer.training.certificate import Certificate
from mercer.training.eigenvectors import seed_of
from mercer.training.folds import folds_with_every_class
from mercer.training.kernel_estimator import has_expansion, known_objects, resolved_kernel, weights_of_kernel
from mercer.training.lazy_methods import answers_lazily
from mercer.training.probabilities import (
    Calibration,
    evidence_of_classes,
    fit_calibration,
    of_this_fit,
    probabilities,
    wanted,
)
from mercer.training.targets import Classes, check_features, classes_of, numbers_of, sample_weights
from mercer.training.voronoi import divide, nearest, nearest_few, working_on


class Cells(MetaEstimatorMixin, BaseEstimator):
    """An exact machine in each of many cells: for hundreds of thousands of objects of any kind.

    Some objects become centres, and each object belongs to the nearest centre in the distance of the kernel. Each cell
    trains its own machine, so time grows with the number of objects times the size of a cell. A new object is predicted
    by the machine of the nearest centre. This suits functions that vary quickly, for which `Nystrom` would need very
    many landmarks; for smooth ones `Nystrom` is the better choice.

    Parameters
    ----------
    estimator : a machine with a kernel, for classes or numbers: `SVC(...)`, `KernelRidge(...)`, `SVR(...)`.
    size : the approximate number of objects per cell. Larger cells are slightly more accurate, but take longer.
    neighbours : the number of further cells that are trained on each object: those with the next nearest centres.
        With one, objects near borders keep most of their neighbours; training takes 1.5 to 3.5 times as long.
    probability : whether to learn probabilities of classes, as in `SVC`: one calibration for all cells, from objects
        that each cell held out; that trains every machine once more. `predict` then returns the most probable class.
    random_state : the seed of the centres.

    Attributes
    ----------
    estimators_ : the machine of each cell; None if it has a single class.
    centres_ : the objects at the centres of cells.
    support_, centre_indices_ : positions of support objects, cell by cell, and of centres among the training objects;
        model files do not keep them.
    sizes_ : how many objects the machine of each cell was trained on.
    classes_ : the labels, for classifiers.
    kernel_ : the kernel, fitted to all training objects.
    calibration_ : what turns decision values into probabilities, with ``probability=True``.
    certificate_ : how close the machines are to their optima, summed.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> import numpy as np
    >>> from mercer import SVC, Cells
    >>> X = np.random.default_rng(0).uniform(size=(600, 2))
    >>> y = np.floor(8 * X).astype(int).sum(axis=1) % 2
    >>> model = Cells(SVC(C=100, gamma=50.0), size=200, random_state=0).fit(X, y)
    >>> len(model.estimators_), bool(model.score(X, y) > 0.95)
    (3, True)
    """

    def __init__(
        self,
        estimator: Any,
        size: int = 5000,
        *,
        neighbours: int = 0,
        probability: bool = False,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.size = size
        self.neighbours = neighbours
        self.probability = probability
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------------------ fit

    @calls.once()
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Divide the objects, and train a machine in each cell."""
        began = time.monotonic()
        self._check_parameters()
        template = clone(self.estimator)
        objects = known_objects(template, X)
        weights, weighted = sample_weights(sample_weight, objects), sample_weight is not None
        targets, classes = self._targets(y, objects)
        with weighing(weights_of_kernel(self.estimator, weights)):
            fitted = resolved_kernel(self.estimator, X).fit(objects)
        rng = np.random.default_rng(0 if self.random_state is None else seed_of(self.random_state))
        cells = divide(fitted, objects, int(self.size), rng)
        members = self._members(fitted, objects, cells)
        known = [
            self._known(cells.labels[ids] == cell, ids, targets, classes, weights if weighted else None)
            for cell, ids in enumerate(members)
        ]
        work = CellWork(self.estimator, fitted, None if classes is None else classes.labels)

        trained = _trained(work, objects, members, known)
        machines = [None if one is None else one.machine for one in trained]
        calibration = self._calibrated(trained, known, members, classes, weights)
        self.kernel_, self.sizes_ = fitted, np.array([len(ids) for ids in members])
        self.centres_, self.centre_indices_ = objects.take(cells.centres), cells.centres
        self.__dict__.pop("calibration_", None)
        if calibration is not None:
            self.calibration_ = calibration
        self._set_machines(machines, members, objects)
        if classes is not None:
            self.classes_ = classes.labels
            firsts = np.array([ids[0] for ids in members])
            self._constant = np.where([m is None for m in machines], classes.codes[firsts], -1)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(template, name):
                setattr(self, name, getattr(template, name))
        self.certificate_: Certificate | None = _together(machines, time.monotonic() - began)
        return self

    def _check_parameters(self) -> None:
        _check.integer("Cells", "size", self.size, low=2)
        _check.integer("Cells", "neighbours", self.neighbours, low=0)
        _check.boolean("Cells", "probability", self.probability)
        kind = get_tags(self.estimator).estimator_type if has_expansion(self.estimator) else None
        if kind not in ("classifier", "regressor"):
            rule = "a machine for classes or numbers, such as SVC() or KernelRidge()"
            raise _check.fail("Cells", "estimator", rule, self.estimator)
        if self.probability and kind == "regressor":
            raise _check.fail("Cells", "probability", "False for a regressor", self.probability)

    def _targets(self, y: Any, objects: Objects) -> tuple[Any, Classes | None]:
        if is_classifier(self.estimator):
            classes = classes_of(self, y, objects, regressor="Cells(SVR())")
            return classes.labels[classes.codes], classes
        numbers, single = numbers_of(self, y, objects, several=True)
        return (numbers[:, 0] if single else numbers), None

    def _members(self, fitted: FittedKernel, objects: Objects, cells: Division) -> list[Indices]:
        """The objects that each cell is trained on: its own, and those that it is a neighbour of."""
        numbers, more = range(len(cells.centres)), min(int(self.neighbours), len(cells.centres) - 1)
        if not more:
            return [np.flatnonzero(cells.labels == cell) for cell in numbers]
        if isinstance(objects, Streamed) and working_on(objects) is not None:
            error = InputError("Cells with neighbours need the objects in memory, not in blocks on other computers.")
            error.add_note("Use neighbours=0 and a larger size.")
            raise error
        near = nearest_few(fitted, objects, objects.take(cells.centres), 1 + more)
        return [np.flatnonzero((near == cell).any(axis=1)) for cell in numbers]

    def _known(
        self, own: npt.NDArray[np.bool_], ids: Indices, targets: Any, classes: Classes | None, weights: Float64 | None
    ) -> CellTargets | None:
        """What a machine needs besides its objects; None in a cell with a single class, which needs no machine.

        Probabilities are learnt from the cell's own objects, since only such objects will be predicted by it.
        """
        split = None
        if classes is not None:
            there, codes = np.unique(classes.codes[ids], return_inverse=True)
            if len(there) == 1:
                return None
            if self.probability:
                counts = np.ones(len(ids)) if weights is None else weights[ids]
                split = next(folds_with_every_class(codes, counts, 0), None)
        if split is not None:
            seen, asked = split
            split = (seen, asked[own[asked]]) if own[asked].any() else None
        return CellTargets(targets[ids], None if weights is None else weights[ids], split)

    def _calibrated(
        self, trained: list[Any], known: list[Any], members: list[Indices], classes: Classes | None, weights: Float64
    ) -> Calibration | None:
        """Calibrate on decision values for a fifth of each cell, from machines trained on the rest."""
        if classes is None or not self.probability:
            return None
        cells = [cell for cell, one in enumerate(trained) if one is not None and one.held_out is not None]
        none = np.zeros(0 if len(classes.labels) == 2 else (0, len(classes.labels)))
        places = np.concatenate([np.zeros(0, dtype=np.intp), *(members[cell][known[cell].split[1]] for cell in cells)])
        values = np.concatenate([none, *(trained[cell].held_out for cell in cells)])
        return fit_calibration(evidence_of_classes(values), classes.codes[places], weights[places])

    def _set_machines(self, machines: list[Any], members: list[Indices], objects: Objects) -> None:
        """Keep the support objects of all machines in one batch; each machine has a part of it."""
        places = [np.zeros(0, dtype=np.intp)]
        for ids, machine in zip(members, machines, strict=True):
            if machine is not None:
                places.append(ids[getattr(machine, "support_", slice(None))])
        self._edges = np.cumsum([len(part) for part in places])
        self.support_ = np.concatenate(places)
        trained = [machine for machine in machines if machine is not None]
        if trained and isinstance(objects, Streamed):  # they came with the machines
            self._support = objects.domain.joined([machine.expansion_.support for machine in trained])
        else:
            self._support = objects.take(self.support_)
        for number, machine in enumerate(trained):
            part, own = self._support.take(slice(self._edges[number], self._edges[number + 1])), machine.expansion_
            machine.expansion_ = Expansion(own.kernel, part, own.coefficients, own.intercept, own.weights)
        self.estimators_ = machines

    # -------------------------------------------------------------------------------------------------------- predict

    def _by_cell(self, X: Any, answer: Callable[[int, Objects], Any]) -> tuple[Indices, Any]:
        """The predictions of each cell for its objects, in the original order."""
        check_is_fitted(self)
        objects = self.kernel_.coerce(X)
        check_features(self, X, objects, reset=False)
        labels = nearest(self.kernel_, objects, self.centres_)
        order = np.argsort(labels, kind="stable")
        edges = np.searchsorted(labels[order], np.arange(len(self.estimators_) + 1))
        cells = [cell for cell in range(len(self.estimators_)) if edges[cell + 1] > edges[cell]]
        parts = _side_by_side(
            lambda cell: np.asarray(answer(cell, objects.take(order[edges[cell] : edges[cell + 1]]))), cells
        )
        together = np.concatenate(parts)
        out = np.empty_like(together)
        out[order] = together
        return labels, out

    def predict(self, X: Any) -> Any:
        """The label or number of each object, by the machine of its cell: with probabilities, the most probable one."""
        if self.probability and "calibration_" in vars(self):
            return self.classes_[probabilities(self._log_odds(X)).argmax(axis=1)]

        def answer(cell: int, part: Objects) -> Any:
            machine = self.estimators_[cell]
            return self.classes_[np.full(len(part), self._constant[cell])] if machine is None else machine.predict(part)

        return self._by_cell(X, answer)[1]

    @available_if(lambda self: is_classifier(self.estimator))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Float64:
        """For two classes, positive means ``classes_[1]``; else one column per class, lowest for those not in the cell.

        In a cell with a single class, the value is that of a confident decision.
        """

        def answer(cell: int, part: Objects) -> Float64:
            machine = self.estimators_[cell]
            if machine is not None:
                return class_values(machine, part, self.classes_)
            code = int(self._constant[cell])
            if len(self.classes_) == 2:
                return np.full(len(part), SURE if code == 1 else -SURE)
            values = np.zeros((len(part), len(self.classes_)))
            values[:, code] = SURE
            return values

        return np.asarray(self._by_cell(X, answer)[1])

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        return probabilities(self._log_odds(X))

    def _log_odds(self, X: Any) -> Float64:
        """One column per class; in a cell of m objects of a single class, its odds against any other are m + 1 to 1."""
        calibration = of_this_fit(self)

        def answer(cell: int, part: Objects) -> Float64:
            machine = self.estimators_[cell]
            if machine is not None:
                return calibration.log_odds(evidence_of_classes(class_values(machine, part, self.classes_)))
            values = np.zeros((len(part), len(self.classes_)))
            values[:, self._constant[cell]] = np.log(self.sizes_[cell] + 1.0)
            return values

        return np.asarray(self._by_cell(X, answer)[1])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The accuracy of a classifier, R^2 of a regressor."""
        measure = accuracy_score if is_classifier(self.estimator) else r2_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))

    # ---------------------------------------------------------------------------------------------------- model files

    def _to_stored(self) -> Stored:
        check_is_fitted(self)
        constant = self._constant if is_classifier(self.estimator) else None
        return cell_files.take_apart(self, self._support, self._edges, constant)

    @classmethod
    def _from_stored(cls, stored: Stored) -> Self:
        parts = cell_files.put_together(stored)
        model = cls(
            parts.template,
            parts.size,
            neighbours=parts.neighbours,
            probability=parts.probability,
            random_state=parts.random_state,
        )
        model._check_parameters()
        model.sizes_, model.centres_ = parts.sizes, parts.centres
        if parts.calibration is not None:
            model.calibration_ = parts.calibration
        model.kernel_, model._support, model._edges = parts.kernel, parts.support, parts.edges
        model.estimators_, model.certificate_ = parts.machines, parts.certificate
        if is_classifier(model.estimator):
            if parts.classes is None or parts.constant is None:
                raise ModelFileError("its classes are missing.")
            model.classes_, model._constant = parts.classes, parts.constant
        return model

    def __sklearn_tags__(self) -> Any:
        tags = with_inner_tags(super().__sklearn_tags__(), self.estimator)
        tags.target_tags.multi_output = get_tags(self.estimator).target_tags.multi_output
        return tags


answers_lazily(Cells, lambda model: model.centres_)


def _trained(work: CellWork, objects: Objects, members: list[Indices], known: list[Any]) -> list[TrainedCell | None]:
    """Train the machines of all cells: in threads, the largest cells first, or on a cluster."""

    def train(cell: int) -> TrainedCell | None:
        return None if known[cell] is None else work(objects.take(members[cell]), known[cell])

    far = working_on(objects)
    with reporting("Training cells") as report:
        if far is not None:
            return far.over_groups(work, objects, members, known)
        return _side_by_side(train, sorted(range(len(members)), key=lambda cell: -len(members[cell])), report)


def _side_by_side(job: Callable[[int], Any], cells: list[int], report: Any = None) -> list[Any]:
    """The results of a job for each cell, by cell number; threads work through the list in order."""
    found: dict[int, Any] = {}

    def run(cell: int) -> None:
        found[cell] = job(cell)
        if report is not None:
            report(len(found) / len(cells), f"{len(found)} of {len(cells)}")

    Threads().each(run, cells)
    return [found[cell] for cell in sorted(found)]


def _together(machines: list[Any], seconds: float) -> Certificate:
    """One certificate for all machines; with a single class in every cell, constants are optimal."""
    parts = tuple(machine.certificate_ for machine in machines if machine is not None)
    if not parts:
        return Certificate(0.0, 0.0, 0.0, float("inf"), 0, kernel_entries=0, seconds=seconds, dtype="float64")
    return Certificate.together(parts, sum(part.kernel_entries for part in parts), seconds)
