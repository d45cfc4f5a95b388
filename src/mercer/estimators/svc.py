"""Support vector classification."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, cast

from sklearn.utils.validation import check_is_fitted

from mercer import _check
from mercer._types import Float64, Indices
from mercer.gram.contract import Gram
from mercer.inputs.base import Objects
from mercer.losses.hinge import Hinge
from mercer.solvers.drive import Limits, OnChunk
from mercer.solvers.problem import LossProblem
from mercer.training.margin_classifier import MarginClassifier
from mercer.training.pair_machines import CForm, Solved
from mercer.training.show_work import MOST_OBJECTS, FewObjects, ShownWork, show_work
from mercer.training.targets import Classes
from mercer.training.train import train


@dataclass(kw_only=True, eq=False, repr=False)
class SVC(MarginClassifier):
    """Support vector classification with any kernel, on anything that the kernel compares.

    For two classes it minimises 1/2 |w|^2 + C sum_i max(0, 1 - y_i f(x_i)) over f(x) = <w, phi(x)> + b; for more, it
    does so for every pair of classes on one shared Gram matrix. A drop-in for scikit-learn's SVC, with the same
    attributes.

    Parameters
    ----------
    C : the penalty on slack, in (0, inf]; ``inf`` is the hard margin.
    kernel : ``"rbf"``, ``"linear"``, ``"poly"``, ``"sigmoid"``, ``"laplacian"``, ``"chi2"``, ``"cosine"``,
        ``"precomputed"``, any kernel object, an expression such as ``"rbf(gamma=0.1) + linear()"``, or a function of
        two batches.
    degree, gamma, coef0 : parameters of named kernels; kernel objects have their own.
    shrinking : accepted for compatibility with scikit-learn; the solver decides by itself.
    tol : how far the optimality conditions may be violated, in units of the decision function.
    cache_size : memory for stored kernel values in MiB; ``None`` to use `memory`.
    class_weight : factors on C per class, or ``"balanced"``.
    verbose : accepted for compatibility with scikit-learn; progress is always shown on a terminal.
    max_iter : limit on iterations of each machine; -1 for none.
    decision_function_shape : ``"ovr"``, one column per class, or ``"ovo"``, one per pair.
    break_ties : with ``"ovr"``, predict the class with the largest decision value rather than the most votes.
    probability : whether to learn `predict_proba`, by logistic regression on decision values of objects held out in
        five folds that share the Gram matrix. Probabilities refer to the data as given, whatever `class_weight` is, and
        `predict` then always returns the most probable class. For labels that follow the class weights, leave this
        False, or apply a threshold to probabilities, as scikit-learn's `FixedThresholdClassifier` does.
    random_state : the seed of the folds for probabilities; nothing else is random.
    penalty_scaling : ``"sum"`` as above, or ``"mean"``, which divides C by the number of objects.
    fit_intercept : whether to fit b; otherwise it is 0.
    time_limit : limit on seconds for the whole fit.
    memory : memory for stored kernel values: ``"auto"``, half of what is available, or a number of MiB.
    dtype : ``"auto"`` trains on a float32 matrix if there are more than 2,048 objects and the kernel allows it, and
        corrects the solution in float64; ``"float64"`` computes every kernel value in float64, in twice the time and
        memory. The certificate is about the kernel in float64 either way.
    psd : what to do if the kernel turns out not to be positive semi-definite: ``"warn"``, ``"error"``, ``"ignore"``, or
        train on a repaired matrix without negative eigenvalues: ``"clip"`` drops them, ``"flip"`` drops their signs,
        ``"shift"`` raises all. Prediction follows the same rule; with the first two it uses all training objects.
    dual : True trains on the Gram matrix; False on explicit features of the kernel, if it has them (`Linear`,
        polynomials of low degree, kernels that count): the same machine without a matrix, trained to a duality gap of
        `tol` / 10 of the objective. ``"auto"`` uses features if there are ten times as many objects as features per
        object, and either at least 20,000 objects or a matrix that does not fit `memory`.

    Attributes
    ----------
    classes_ : the labels, sorted.
    support_ : positions of the support objects among the training objects, class by class.
    support_vectors_ : these objects, if they are vectors.
    n_support_ : the number of support objects of each class.
    dual_coef_ : their coefficients, with one row fewer than classes, as in scikit-learn.
    intercept_ : one number for each pair of classes.
    coef_ : weights of the columns, for the linear kernel only; read-only.
    class_weight_ : the weight of each class.
    kernel_ : the kernel, fitted to the training objects.
    expansion_ : the fitted function: objects, their coefficients, and intercepts.
    certificate_ : how close the machine is to the optimum: numbers that print as sentences.
    n_iter_ : the number of steps of the machine of each pair of classes.
    fit_status_ : 0 if training converged, otherwise 1.
    shape_fit_ : the shape of the training data.
    calibration_ : the map from decision values to probabilities, with ``probability=True``.
    probA_, probB_ : slopes and offsets that turn decision values into probabilities, with ``probability=True``.
    n_features_in_, feature_names_in_ : the number of columns and their names, if any; for vectors only.

    >>> from mercer import SVC, kernels
    >>> model = SVC(kernel=kernels.Spectrum(p=2)).fit(["gattaca", "gattica", "ccgcg", "cgcgc"], [1, 1, 0, 0])
    >>> model.predict(["gatta", "gcgc"])
    array([1, 0])
    """

    C: float = 1.0
    penalty_scaling: Literal["sum", "mean"] = "sum"
    fit_intercept: bool = True

    _regressor = "SVR"
    _few = cast("FewObjects | None", None)

    def _check_parameters(self) -> None:
        owner = type(self).__name__
        _check.real(owner, "C", self.C, low=0, low_open=True)
        _check.choice(owner, "penalty_scaling", self.penalty_scaling, ("sum", "mean"))
        _check.boolean(owner, "fit_intercept", self.fit_intercept)
        if self.dual is False and math.isinf(self.C):
            raise _check.fail(owner, "dual", "True or 'auto' with C=inf, the hard margin", self.dual)
        super()._check_parameters()

    def _has_intercept(self) -> bool:
        return bool(self.fit_intercept)

    def _bounds(self, classes: Classes, weights: Float64) -> Float64:
        return weights * (float(self.C) / len(weights) if self.penalty_scaling == "mean" else float(self.C))

    def _solve(self, gram: Gram, signs: Float64, bounds: Float64, limits: Limits, on_chunk: OnChunk | None) -> Solved:
        problem = LossProblem(Hinge(), signs, bounds, intercept=bool(self.fit_intercept))
        machine = train(gram, problem, tol=float(self.tol), limits=limits, on_chunk=on_chunk, warm_start=self._sharing)
        return machine, 1.0

    def _c_form(self) -> CForm | None:
        alone = self._sharing is None or not self._sharing.warm
        plain = self.fit_intercept and alone and self.max_iter < 0 and math.isfinite(self.C)
        return CForm(Hinge(), float(self.tol)) if plain else None

    def _remember(self, objects: Objects, codes: Indices, penalties: Float64) -> None:
        self._few = FewObjects(objects, codes, penalties) if len(objects) <= MOST_OBJECTS else None

    def show_work(self) -> ShownWork:
        """The computation of the machine, line by line: for machines trained on up to a dozen objects.

        A machine that was loaded from a file no longer has its training objects; fit it again.

        >>> from mercer import SVC
        >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-9).fit([[-1.0], [1.0], [3.0]], [-1, 1, 1])
        >>> print(model.show_work().text.splitlines()[0])
        Classes 1 (y = +1) and -1 (y = -1), kernel linear()
        """
        check_is_fitted(self)
        intercept = bool(self.fit_intercept)
        return show_work(self._few, self.expansion_, self.support_, self.classes_, intercept=intercept)
