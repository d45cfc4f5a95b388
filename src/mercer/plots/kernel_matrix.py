"""The Gram matrix as a picture, in an order that shows its blocks."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from mercer import _check
from mercer.errors import InputError
from mercer.plots import style
from mercer.theory.arguments import kernel_of, matrix_of
from mercer.theory.mercer import whole_matrix
from mercer.theory.seriation import seriation

ORDERS = ("class", "seriation", "given")


class KernelMatrixDisplay:
    """A Gram matrix, ordered by class and within each class by seriation, with a bar for each class.

    A good kernel shows blocks along the diagonal that are the classes; a bad one shows a diagonal and nothing else.

    >>> from mercer.plots import KernelMatrixDisplay
    >>> display = KernelMatrixDisplay.from_matrix([[2.0, 0.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 2.0]], [0, 1, 0])
    >>> display.order.tolist()
    [0, 2, 1]
    """

    def __init__(self, matrix: Any, *, order: Any = None, y: Any = None, name: str = "") -> None:
        self.matrix = np.asarray(matrix, dtype=np.float64)
        self.order = np.arange(len(self.matrix)) if order is None else np.asarray(order)
        self.y = None if y is None else np.asarray(y)
        self.name = name

    @classmethod
    def from_matrix(cls, matrix: Any, y: Any = None, *, order: str = "class", name: str = "", ax: Any = None) -> Self:
        """`order` is "class" (and similarity within each class), "seriation" (similarity alone) or "given"."""
        _check.choice(cls.__name__, "order", order, ORDERS)
        K = matrix_of(cls.__name__, matrix)
        if K.shape[0] != K.shape[1]:
            raise InputError(f"A Gram matrix is square; got one of shape {K.shape}.")
        if y is not None and len(np.asarray(y)) != len(K):
            raise InputError(f"One label per object is needed: got {len(K)} objects and {len(np.asarray(y))} labels.")
        found = np.arange(len(K))
        if order != "given":
            found = seriation(K, style.classes(y)[1] if order == "class" and y is not None else None)
        return cls(K, order=found, y=y, name=name).plot(ax=ax)

    @classmethod
    def from_kernel(cls, kernel: Any, objects: Any, y: Any = None, *, order: str = "class", ax: Any = None) -> Self:
        """The Gram matrix of a kernel on these objects."""
        chosen = kernel_of(cls.__name__, kernel)
        parsed = chosen.coerce(objects)
        return cls.from_matrix(whole_matrix(chosen.fit(parsed), parsed), y, order=order, name=str(chosen), ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any = None, *, order: str = "class", ax: Any = None) -> Self:
        """The Gram matrix of objects X under the kernel of a fitted model."""
        fitted = estimator.expansion_.kernel
        parsed = fitted.kernel.coerce(X)
        return cls.from_matrix(whole_matrix(fitted, parsed), y, order=order, name=str(fitted.kernel), ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on `ax`, or on new axes; `im_` is the picture and `bars_` are the class bars."""
        ax = style.axes(ax, size=(6.0, 5.0))
        ordered = self.matrix[np.ix_(self.order, self.order)]
        n = len(ordered)
        self.im_ = ax.imshow(ordered, cmap=style.SEQUENTIAL, interpolation="nearest", extent=(0, n, n, 0))
        self.colorbar_ = ax.figure.colorbar(self.im_, ax=ax, label="k(x, z)", shrink=0.85)
        self.bars_: list[Any] = []
        if self.y is not None:
            self._bar(ax, self.y[self.order], n)
        ax.set_xlim(0, n)
        ax.set_ylim(n, 0)
        ax.set_xticks([])
        ax.set_yticks([])
        how = "objects, by class and similarity" if self.y is not None else "objects, by similarity"
        ax.set_xlabel(how if (self.order != np.arange(n)).any() else "objects")
        ax.set_title(f"Gram matrix{f' of {style.shortened(self.name, 40)}' if self.name else ''}", pad=14)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _bar(self, ax: Any, y: npt.NDArray[Any], n: int) -> None:
        """A coloured strip above the matrix and one on its left, one segment for each run of a class."""
        labels, codes = style.classes(y)
        starts = np.flatnonzero(np.diff(codes, prepend=-1))
        ends = np.append(starts[1:], n)
        depth = 0.035 * n
        for start, end in zip(starts, ends, strict=True):
            number = int(codes[start])
            look = {"color": style.colour(number), "clip_on": False, "linewidth": 0}
            for corner, width, height in (
                ((start, -depth), end - start, 0.7 * depth),
                ((-depth, start), 0.7 * depth, end - start),
            ):
                bar = style.pyplot().Rectangle(corner, width, height, **look)
                self.bars_.append(ax.add_patch(bar))
            if end - start >= max(1, n // 25):
                middle, text = (start + end) / 2, style.shortened(str(labels[number]), 12)
                ax.text(-1.6 * depth, middle, text, ha="right", va="center", fontsize="small", clip_on=False)
            if start and len(starts) <= 40:
                ax.axhline(start, color="white", linewidth=0.8)
                ax.axvline(start, color="white", linewidth=0.8)
