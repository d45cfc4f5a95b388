"""Every solver on a problem that suits it, with the optimum found by general-purpose optimisers."""

from tests.conformance import box_subjects, direct_subjects, smooth_subjects, weight_subjects
from tests.conformance.subjects import SUBJECTS

__all__ = ["SUBJECTS", "box_subjects", "direct_subjects", "smooth_subjects", "weight_subjects"]
