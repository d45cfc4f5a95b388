"""Many objects by many small machines: one in each Voronoi cell of the kernel's own geometry."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._progress import reporting
from mercer._stored import Stored
from mercer._types import Float64, Indices
from mercer.errors import ModelFileError
from mercer.gram.executors import Threads, elsewhere
from mercer.gram.expansion import Expansion
from mercer.inputs.base import Objects
from mercer.kernels.base import FittedKernel
from mercer.kernels.weighing import weighing
from mercer.selection import cell_files
from mercer.training.certificate import Certificate
from mercer.training.eigenvectors import seed_of
from mercer.training.folds import folds_with_every_class
from mercer.training.kernel_estimator import (
    fit_with_kernel,
    has_expansion,
    known_objects,
    resolved_kernel,
    weights_of_kernel,
)
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
from mercer.training.voronoi import divide, nearest

_SURE = 1.0
"""The decision value of a cell that holds one class alone, where no probabilities are asked for."""


class Cells(MetaEstimatorMixin, BaseEstimator):
    """An exact machine in each of many cells: for objects by the hundred thousand, of any kind.

    Objects are divided among some of them, the centres, by the distance of the kernel. Each cell trains a machine of
    its own, so that time grows with the objects times the size of a cell. A new object goes to the machine of the
    nearest centre alone. This suits functions that vary quickly, where `Nystrom` would need very many landmarks; on
    smooth ones `Nystrom` is the better choice.

    Parameters
    ----------
    estimator : a machine with a kernel, for classes or numbers: `SVC(...)`, `KernelRidge(...)`, `SVR(...)`.
    size : about how many objects a cell has. Larger ones are a little more exact, and take longer.
    probability : whether to learn probabilities of classes, as in `SVC`: one calibration for all cells, from objects
        that each cell held out; that trains every machine once more. `predict` then returns the most probable class.
    random_state : the seed of the centres.

    Attributes
    ----------
    estimators_ : the machine of each cell; None where one class is all there is.
    centres_ : positions or objects around which cells lie.
    sizes_ : how many training objects each cell has.
    classes_ : the labels, of classifiers.
    kernel_ : the kernel, fitted to all training objects.
    calibration_ : what turns decision values into probabilities, with ``probability=True``.
    certificate_ : how close the machines are to their optima, in sum.
    n_features_in_, feature_names_in_ : how many columns there are, and their names if they had any; of vectors alone.

    >>> import numpy as np
    >>> from mercer import SVC, Cells
    >>> X = np.random.default_rng(0).uniform(size=(600, 2))
    >>> y = np.floor(8 * X).astype(int).sum(axis=1) % 2
    >>> model = Cells(SVC(C=100, gamma=50.0), size=200, random_state=0).fit(X, y)
    >>> len(model.estimators_), bool(model.score(X, y) > 0.95)
    (3, True)
    """

    def __init__(
        self, estimator: Any, size: int = 5000, *, probability: bool = False, random_state: Any = None
    ) -> None:
        self.estimator = estimator
        self.size = size
        self.probability = probability
        self.random_state = random_state

    # ------------------------------------------------------------------------------------------------------------ fit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Divide the objects, and train a machine in each cell."""
        began = time.monotonic()
        self._check_parameters()
        template = clone(self.estimator)
        objects = known_objects(template, X)
        weights = sample_weights(sample_weight, objects)
        targets, classes = self._targets(y, objects)
        with weighing(weights_of_kernel(self.estimator, weights)):
            fitted = resolved_kernel(self.estimator, X).fit(objects)
        rng = np.random.default_rng(0 if self.random_state is None else seed_of(self.random_state))
        cells = divide(fitted, objects, int(self.size), rng)
        members = [np.flatnonzero(cells.labels == cell) for cell in range(len(cells.centres))]

        def cell(ids: Indices) -> _Cell | None:
            if classes is not None and len(np.unique(targets[ids])) == 1:
                return None
            return _Cell(objects.take(ids), targets[ids], None if sample_weight is None else weights[ids])

        training, far = _Training(self.estimator, fitted), elsewhere()

        def train(ids: Indices) -> Any:
            return training(cell(ids))

        with reporting("Training cells") as report:
            if far is None:
                machines = _side_by_side(train, members, report)
            else:
                machines = far.gather(training, _MadeWhenSent(cell, members))
            calibration = self._calibrated(train, objects, classes, members, weights)
        self.kernel_, self.sizes_ = fitted, np.array([len(ids) for ids in members])
        self.centres_ = objects.take(cells.centres)
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
        self.certificate_ = _together(machines, time.monotonic() - began)
        return self

    def _check_parameters(self) -> None:
        _check.integer("Cells", "size", self.size, low=2)
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

    def _set_machines(self, machines: list[Any], members: list[Indices], objects: Objects) -> None:
        """Keep the support objects of all machines in one batch, of which each machine has a part."""
        places = [np.zeros(0, dtype=np.intp)]
        for ids, machine in zip(members, machines, strict=True):
            if machine is not None:
                places.append(ids[getattr(machine, "support_", slice(None))])
        self._edges = np.cumsum([len(part) for part in places])
        self._support = objects.take(np.concatenate(places))
        trained = (machine for machine in machines if machine is not None)
        for number, machine in enumerate(trained):
            part, own = self._support.take(slice(self._edges[number], self._edges[number + 1])), machine.expansion_
            machine.expansion_ = Expansion(own.kernel, part, own.coefficients, own.intercept, own.weights)
        self.estimators_ = machines

    def _calibrated(
        self, train: Any, objects: Objects, classes: Classes | None, members: list[Indices], weights: Float64
    ) -> Calibration | None:
        """From decision values of a fifth of each cell, by machines that were trained on the rest."""
        if classes is None or not self.probability:
            return None

        def held_out(ids: Indices) -> tuple[Indices, Float64] | None:
            codes = np.unique(classes.codes[ids], return_inverse=True)[1]
            splits = folds_with_every_class(codes, weights[ids], 0) if codes.max(initial=0) else iter(())
            split = next(splits, None)
            if split is None:
                return None
            seen, tested = ids[split[0]], ids[split[1]]
            machine = train(seen)
            return tested, _class_values(machine, objects.take(tested), classes.labels)

        found = [part for part in _side_by_side(held_out, members) if part is not None]
        none = np.zeros(0 if len(classes.labels) == 2 else (0, len(classes.labels)))
        places = np.concatenate([np.zeros(0, dtype=np.intp), *(part[0] for part in found)])
        values = np.concatenate([none, *(part[1] for part in found)])
        return fit_calibration(evidence_of_classes(values), classes.codes[places], weights[places])

    # -------------------------------------------------------------------------------------------------------- predict

    def _by_cell(self, X: Any, answer: Callable[[int, Objects], Any]) -> tuple[Indices, Any]:
        """What each cell answers for its objects, put back in their order."""
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

        Where a cell holds one class alone, the value is that of a certain decision.
        """

        def answer(cell: int, part: Objects) -> Float64:
            machine = self.estimators_[cell]
            if machine is not None:
                return _class_values(machine, part, self.classes_)
            code = int(self._constant[cell])
            if len(self.classes_) == 2:
                return np.full(len(part), _SURE if code == 1 else -_SURE)
            values = np.zeros((len(part), len(self.classes_)))
            values[:, code] = _SURE
            return values

        return np.asarray(self._by_cell(X, answer)[1])

    @available_if(wanted)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Float64:
        """The probability of each class, one column each, in the order of `classes_`."""
        return probabilities(self._log_odds(X))

    def _log_odds(self, X: Any) -> Float64:
        """One column per class; a cell of m objects of one class is as sure of it as m + 1 of m + 2 cases make one."""
        calibration = of_this_fit(self)

        def answer(cell: int, part: Objects) -> Float64:
            machine = self.estimators_[cell]
            if machine is not None:
                return calibration.log_odds(evidence_of_classes(_class_values(machine, part, self.classes_)))
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
        model = cls(parts.template, parts.size, probability=parts.probability, random_state=parts.random_state)
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
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type, tags.input_tags = inner.estimator_type, inner.input_tags
        tags.classifier_tags, tags.regressor_tags = inner.classifier_tags, inner.regressor_tags
        tags.target_tags.required, tags.target_tags.multi_output = True, inner.target_tags.multi_output
        return tags


@final
@dataclass(frozen=True, eq=False)
class _Cell:
    """What a machine is trained on."""

    objects: Objects
    targets: Any
    weights: Float64 | None


@final
@dataclass(frozen=True, eq=False)
class _Training:
    """Trains the machine of a cell, wherever it is sent; none in a cell of one class."""

    estimator: Any
    kernel: FittedKernel

    def __call__(self, cell: _Cell | None) -> Any:
        if cell is None:
            return None
        given = {} if cell.weights is None else {"sample_weight": cell.weights}
        return fit_with_kernel(clone(self.estimator), self.kernel, cell.objects, cell.targets, **given)


@final
@dataclass(frozen=True, eq=False)
class _MadeWhenSent(Sequence[_Cell | None]):
    """Cells that are put together when their turn comes: all of them are as large as the data."""

    make: Callable[[Indices], _Cell | None]
    members: list[Indices]

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, place: Any) -> Any:
        chosen = self.members[place]
        return [self.make(ids) for ids in chosen] if isinstance(place, slice) else self.make(chosen)


answers_lazily(Cells, lambda model: model.centres_)


def _side_by_side(job: Callable[[Any], Any], items: list[Any], report: Any = None) -> list[Any]:
    """The results of a job for each item, in threads, the longest items first."""
    found: list[Any] = [None] * len(items)
    order = sorted(range(len(items)), key=lambda place: -np.size(items[place]))
    done = 0

    def run(place: int) -> None:
        nonlocal done
        found[place] = job(items[place])
        done += 1
        if report is not None:
            report(done / len(items), f"{done} of {len(items)}")

    Threads().each(run, order)
    return found


def _class_values(machine: Any, part: Objects, labels: Any) -> Float64:
    """Decision values with a column for each of the classes, those that the machine never saw below the others."""
    values = np.asarray(machine.decision_function(part))
    if len(labels) == 2:
        return values
    columns = np.column_stack([-values / 2, values / 2]) if values.ndim == 1 else values
    out = np.repeat(columns.min(axis=1, keepdims=True) - _SURE, len(labels), axis=1)
    out[:, np.searchsorted(labels, machine.classes_)] = columns
    return out


def _together(machines: list[Any], seconds: float) -> Certificate | None:
    """One certificate for all machines, if there are any."""
    parts = tuple(machine.certificate_ for machine in machines if machine is not None)
    return Certificate.together(parts, sum(part.kernel_entries for part in parts), seconds) if parts else None
