"""A correct kernel, and the same with one bug each."""

import dataclasses
import threading
from dataclasses import dataclass

import numpy as np

from mercer.inputs.vectors import Vectors
from mercer.kernels.base import Kernel, State
from mercer.kernels.vectors.features import RowFeatures, dot_products


@dataclass(frozen=True)
class Good(Kernel):
    """width * x'z, with a state that it does not need."""

    width: float = 2.0
    domain = Vectors

    def resolve(self, objects):
        return State({"ones": np.ones(3)})

    def features(self, objects, state, dtype):
        return RowFeatures.of(objects, dtype)

    def tile(self, left, right, state, out):
        dot_products(left, right, out)
        out *= out.dtype.type(self.width)

    def diagonal(self, features, state):
        return self.width * features.squared_lengths

    @classmethod
    def examples(cls):
        yield cls()
        yield cls(width=3.0)


KERNELS = []
"""(class, the check that it must fail, the other checks that it may fail)."""


def plant(check, *others):
    def register(cls):
        KERNELS.append((dataclass(frozen=True)(cls), check, set(others)))
        return cls

    return register


VALUES = (
    "kernel_symmetry",
    "kernel_same_objects_twice",
    "kernel_diagonal",
    "kernel_subblocks",
    "kernel_take_objects_or_features",
    "kernel_batches",
    "kernel_train_test",
    "kernel_positive_semidefinite",
    "kernel_data_dependence",
)


@plant("kernel_finite", *VALUES, "kernel_single_precision", "kernel_input_untouched", "kernel_tile_fills_its_buffer",
       "kernel_threads", "kernel_round_trip_pickle")  # fmt: skip
class NotFinite(Good):
    """0 / 0 for the all-zero object."""

    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        with np.errstate(invalid="ignore", divide="ignore"):
            out /= np.sqrt(np.outer(left.squared_lengths, right.squared_lengths))

    def diagonal(self, features, state):
        return np.full(len(features), self.width)


@plant("kernel_symmetry", "kernel_train_test", "kernel_subblocks", "kernel_positive_semidefinite")
class Asymmetric(Good):
    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        out += 1e-6 * left.squared_lengths[:, None]

    def diagonal(self, features, state):
        return (self.width + 1e-6) * features.squared_lengths


@plant("kernel_same_objects_twice", "kernel_batches", "kernel_train_test", "kernel_subblocks",
       "kernel_take_objects_or_features")  # fmt: skip
class SameObjectIsSpecial(Good):
    """Values differ when both sides are one batch: `left is right` must only save work."""

    def align(self, left, right, state):
        if left is not right:
            right = RowFeatures(right.rows * 1.001, right.squared_lengths)
        return left, right


@plant("kernel_diagonal", "kernel_train_test", "kernel_positive_semidefinite")
class WrongDiagonal(Good):
    def diagonal(self, features, state):
        return (self.width + 1e-6) * features.squared_lengths


@plant("kernel_diagonal", "kernel_train_test", "kernel_positive_semidefinite")
class SinglePrecisionDiagonal(Good):
    def diagonal(self, features, state):
        return super().diagonal(features, state).astype(np.float32)


@plant("kernel_subblocks", "kernel_same_objects_twice", "kernel_take_objects_or_features", "kernel_batches",
       "kernel_train_test", "kernel_threads", "kernel_diagonal", "kernel_positive_semidefinite")  # fmt: skip
class DependsOnTheBlock(Good):
    """Values relative to the largest of the block."""

    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        out *= 1 + 1e-7 * len(right.squared_lengths)


class ForgetfulFeatures:
    """Features that ignore the step of an index, or return too many."""

    def __init__(self, inner, mistake):
        self.inner, self.mistake = inner, mistake
        self.rows, self.squared_lengths = inner.rows, inner.squared_lengths

    def __len__(self):
        return len(self.inner)

    def take(self, index):
        return ForgetfulFeatures(self.inner.take(self.mistake(index)), self.mistake)


def _sorted_index(index):
    return index if isinstance(index, slice) else np.sort(index)


def _never_empty(index):
    return slice(0, 1) if isinstance(index, slice) and index.start == index.stop else index


@plant("kernel_subblocks", "kernel_train_test")
class SortedTake(Good):
    def features(self, objects, state, dtype):
        return ForgetfulFeatures(super().features(objects, state, dtype), _sorted_index)


@plant("kernel_features_have_lengths")
class NeverEmptyTake(Good):
    def features(self, objects, state, dtype):
        return ForgetfulFeatures(super().features(objects, state, dtype), _never_empty)


@plant("kernel_take_objects_or_features", "kernel_batches", "kernel_train_test")
class CentredByBatch(Good):
    """Features that depend on the company: the mean of the batch at hand is subtracted."""

    def features(self, objects, state, dtype):
        return RowFeatures.of(objects, dtype, shift=np.asarray(objects.values).mean(axis=0) * 1e-3)


@plant("kernel_batches", "kernel_take_objects_or_features", "kernel_train_test")
class NumberedByBatch(Good):
    """A vocabulary built from each batch: column numbers mean different things in different batches."""

    def features(self, objects, state, dtype):
        values = np.asarray(objects.values)
        return RowFeatures.of(Vectors(np.ascontiguousarray(values[:, np.argsort(values[0])])), dtype)


@plant("kernel_train_test")
class ForgetsToAlignNew(Good):
    """Right only when both sides are equally many."""

    def align(self, left, right, state):
        if len(left) == 11 and len(right) == 12:
            left = RowFeatures(left.rows[::-1], left.squared_lengths[::-1])
        return left, right


@plant("kernel_positive_semidefinite")
class Indefinite(Good):
    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        np.negative(out, out=out)

    def diagonal(self, features, state):
        return -super().diagonal(features, state)


@plant("kernel_single_precision")
class NotForSinglePrecision(Good):
    """Loses digits in float32 and does not say so."""

    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        out += out.dtype.type(3e4)
        out -= out.dtype.type(3e4)

    def diagonal(self, features, state):
        return super().diagonal(features, state)


@plant("kernel_threads")
class DependsOnTheThread(Good):
    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        if threading.current_thread() is not threading.main_thread():
            np.nextafter(out, np.inf, out=out)


@plant("kernel_data_dependence")
class SecretlyDataDependent(Good):
    """The scale comes from the data, and data_dependent says False."""

    def resolve(self, objects):
        return State({"scale": np.asarray(objects.values[0].max())})

    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        out *= out.dtype.type(1 + state.number("scale") ** 2)

    def diagonal(self, features, state):
        return super().diagonal(features, state) * (1 + state.number("scale") ** 2)


@plant("kernel_data_dependence")
class ClaimsToBeDataDependent(Good):
    @property
    def data_dependent(self):
        return True


@plant("kernel_input_untouched", "kernel_subblocks", "kernel_same_objects_twice", "kernel_tile_fills_its_buffer",
       "kernel_take_objects_or_features", "kernel_batches", "kernel_train_test", "kernel_data_dependence",
       "kernel_threads", "kernel_round_trip_pickle", "kernel_single_precision")  # fmt: skip
class WritesToItsFeatures(Good):
    def features(self, objects, state, dtype):
        return RowFeatures.of(Vectors(np.array(objects.values)), dtype)

    def tile(self, left, right, state, out):
        super().tile(left, right, state, out)
        left.rows[...] *= 1 + 1e-7


@plant("kernel_input_untouched", "kernel_data_dependence", "kernel_tile_fills_its_buffer", "kernel_round_trip_pickle")
class WritesToItsInput(Good):
    """The first object grows at every fit."""

    def resolve(self, objects):
        values = objects.values.base if objects.values.base is not None else objects.values
        values.flags.writeable = True
        values[5] *= 1 + 1e-7
        return State()


@plant("kernel_tile_fills_its_buffer", "kernel_single_precision", "kernel_threads", "kernel_finite", *VALUES,
       "kernel_input_untouched", "kernel_round_trip_pickle")  # fmt: skip
class AddsToItsBuffer(Good):
    """Right only in a buffer of zeros."""

    def tile(self, left, right, state, out):
        block = np.empty_like(out)
        super().tile(left, right, state, block)
        out += block


@plant("kernel_state_is_storable")
class StateOfPython(Good):
    def resolve(self, objects):
        return State({"names": np.array([{"a": 1}, None], dtype=object)})


@plant("kernel_state_is_storable")
class StateOfLists(Good):
    def resolve(self, objects):
        return State(parts=(State({"numbers": [1.0, 2.0]}),))


class Lenient(Vectors):
    @classmethod
    def coerce(cls, raw, *, new=False):
        return cls(np.ones((1, 1))) if isinstance(raw, list) and not raw else cls(Vectors.coerce(raw).values)


@plant("kernel_nothing_is_refused")
class AcceptsNothing(Good):
    domain = Lenient


@plant("kernel_round_trip_pickle")
class ForgetsWhenPickled(Good):
    def __reduce__(self):
        return (type(self), (9.0,))


@plant("record_representation", "record_equality")
class ShortRepr(Good):
    def __repr__(self):
        return f"{type(self).__name__}()"


@plant("record_representation")
class EmptyStr(Good):
    def __str__(self):
        return ""


@plant("record_rebuilding", "record_parameters", "kernel_round_trip_pickle")
class EqualByIdentity(Good):
    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return id(self)


@plant("record_equality")
class EqualByClass(Good):
    def __eq__(self, other):
        return type(self) is type(other)

    def __hash__(self):
        return 1


@plant("record_rebuilding", "kernel_round_trip_pickle")
class HashOfIdentity(Good):
    def __hash__(self):
        return id(self)


class Mutable(Good):
    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


KERNELS.append((Mutable, "record_immutability", set()))


@plant("record_parameters")
class ForgetsParameters(Good):
    def with_params(self, **changes):
        return type(self)(width=7.0)


@plant("record_parameters")
class AcceptsAnyParameter(Good):
    def with_params(self, **changes):
        return dataclasses.replace(self, **{name: value for name, value in changes.items() if name == "width"})


@plant("record_cloning")
class ClonesItself(Good):
    def __sklearn_clone__(self):
        return dataclasses.replace(self)
