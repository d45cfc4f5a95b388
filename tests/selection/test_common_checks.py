"""scikit-learn's checks of estimators, on those that hold another one."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import SVC, Cells, KernelRidge, KernelSearchCV

WEIGHTS = "at the default tol=1e-3 two optimal solutions agree to 1e-3, not to 1e-7"
KNOWN = dict.fromkeys(
    ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data"), WEIGHTS
)


def expected(estimator):
    return KNOWN if isinstance(estimator, Cells) and isinstance(estimator.estimator, SVC) else {}


@pytest.mark.filterwarnings("ignore:The least populated class:UserWarning")
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")  # where scikit-learn looks at targets
@parametrize_with_checks(
    [
        KernelSearchCV(SVC(), {"C": [1.0, 10.0]}, cv=2, error_score="raise"),
        KernelSearchCV(KernelRidge(kernel="rbf"), {"alpha": [0.1, 1.0]}, cv=2, error_score="raise"),
        Cells(SVC(), 100),
        Cells(KernelRidge(kernel="rbf"), 100),
    ],
    expected_failed_checks=expected,
)
def test_common_checks(estimator, check):
    if getattr(check, "func", check).__name__ == "check_array_api_input":
        return  # it only ever skips: the array API is not claimed
    check(estimator)
