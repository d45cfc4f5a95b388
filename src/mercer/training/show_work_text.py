"""The dual of a support vector machine and its solution, in words and in LaTeX."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np

from mercer._types import Float64


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """One machine for two classes: its input and its solution."""

    kernel: str
    formula: str
    positive: str
    negative: str
    numbers: tuple[int, ...]
    """The numbers of the objects, counted from 1."""
    K: Float64
    y: Float64
    alpha: Float64
    upper: Float64
    """The largest alpha of each object: C times its weight."""
    b: float
    has_intercept: bool

    @property
    def sums(self) -> Float64:
        """sum_j alpha_j y_j k(x_j, x_i)."""
        return np.asarray(self.K @ (self.alpha * self.y))

    @property
    def f(self) -> Float64:
        return self.sums + self.b

    @property
    def slack(self) -> Float64:
        return np.maximum(0.0, 1.0 - self.y * self.f)

    @property
    def norm(self) -> float:
        """|w|."""
        return math.sqrt(max(float((self.alpha * self.y) @ self.sums), 0.0))

    @property
    def dual(self) -> float:
        return float(self.alpha.sum()) - 0.5 * self.norm**2

    @property
    def primal(self) -> float:
        """1/2 |w|^2 + sum_i C_i slack_i; only the first term for a hard margin."""
        soft = np.isfinite(self.upper)
        return 0.5 * self.norm**2 + float(self.upper[soft] @ self.slack[soft])

    def cases(self) -> list[str]:
        """Where each alpha lies: "zero", "free" or "bound"."""
        ends = 1e-9 * np.where(np.isfinite(self.upper), self.upper, max(float(self.alpha.max(initial=0.0)), 1e-300))
        free = np.where(self.alpha < self.upper - ends, "free", "bound")
        return [str(case) for case in np.where(self.alpha <= ends, "zero", free)]


_CONDITION = {"zero": (">=", r"\ge"), "free": ("=", "="), "bound": ("<=", r"\le")}
_WHY = {"zero": "alpha = 0", "free": "0 < alpha < C", "bound": "alpha = C"}


def as_text(problem: Problem) -> str:
    """Plain text, step by step."""
    p = problem
    names = [f"x{number}" for number in p.numbers]
    cases = p.cases()
    lines = [
        f"Classes {p.positive} (y = +1) and {p.negative} (y = -1), kernel {p.kernel}",
        "",
        "1. The Gram matrix, K_ij = k(x_i, x_j)",
        *_matrix(p.K, names, p.y),
        "",
        "2. The dual problem",
        "   maximise  " + _objective(p),
        "   subject to  " + _constraints(p),
        "",
        "3. Its solution",
        *(
            f"   alpha{n} = {_number(a)}{'' if a > 0 else '   (no support vector)'}"
            for n, a in _pairs(p.numbers, p.alpha)
        ),
    ]
    if p.has_intercept:
        terms = " ".join(f"{'+' if y > 0 else '-'} {_number(a)}" for a, y in zip(p.alpha, p.y, strict=True) if a > 0)
        total = float(p.alpha @ p.y)
        lines.append(f"   sum of alpha_i y_i = {terms.removeprefix('+ ')} = {_number(total, small=True)}")
    lines += ["", *_intercept(p, names, cases), "", *_conditions(p, cases), "", *_margins(p)]
    return "\n".join(lines)


def _pairs(numbers: tuple[int, ...], values: Float64) -> list[tuple[int, float]]:
    return [(number, float(value)) for number, value in zip(numbers, values, strict=True)]


def _number(value: float, *, small: bool = False) -> str:
    if small and abs(value) < 1e-6:
        return "0"
    return "0" if value == 0 else f"{value:.4g}"


def _matrix(K: Float64, names: list[str], y: Float64) -> list[str]:
    cells = [[_number(value, small=True) for value in row] for row in K]
    width = max(5, *(len(cell) for row in cells for cell in row))
    head = " " * 6 + "".join(name.rjust(width + 2) for name in names) + "      y"
    rows = (
        f"   {name:<3}" + "".join(cell.rjust(width + 2) for cell in row) + f"     {'+1' if sign > 0 else '-1'}"
        for name, row, sign in zip(names, cells, y, strict=True)
    )
    return [head, *rows]


def _objective(p: Problem) -> str:
    """sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij, multiplied out for a few objects."""
    if len(p.y) > 4:
        return "sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij"
    Q = p.K * np.outer(p.y, p.y)
    linear = " + ".join(f"alpha{number}" for number in p.numbers)
    terms = []
    for i, one in enumerate(p.numbers):
        for j, two in enumerate(p.numbers[i:], i):
            value = Q[i, j] if i == j else 2 * Q[i, j]
            if abs(value) > 1e-12:
                product = f"alpha{one}^2" if i == j else f"alpha{one} alpha{two}"
                terms.append(f"{'+' if value > 0 else '-'} {_number(abs(float(value)))} {product}")
    return f"{linear} - 1/2 ({' '.join(terms).removeprefix('+ ')})"


def _constraints(p: Problem) -> str:
    bounds = sorted(set(p.upper.tolist()))
    if math.isinf(bounds[-1]):
        said = "alpha_i >= 0"
    else:
        said = f"0 <= alpha_i <= {_number(bounds[0])}" if len(bounds) == 1 else "0 <= alpha_i <= C_i"
    if not p.has_intercept:
        return said
    signs = " ".join(f"{'+' if y > 0 else '-'} alpha{number}" for number, y in zip(p.numbers, p.y, strict=True))
    return f"{said},  {signs.removeprefix('+ ')} = 0"


def _intercept(p: Problem, names: list[str], cases: list[str]) -> list[str]:
    if not p.has_intercept:
        return ["4. There is no intercept: b = 0"]
    lines = ["4. b from each support vector with 0 < alpha < C: y_i f(x_i) = 1, so b = y_i - sum_j alpha_j y_j K_ij"]
    for i, case in enumerate(cases):
        if case == "free":
            lines.append(
                f"   {names[i]}:  b = {p.y[i]:+.0f} - ({_number(float(p.sums[i]), small=True)}) = "
                f"{_number(float(p.y[i] - p.sums[i]), small=True)}"
            )
    if "free" not in cases:
        lines.append("   none has 0 < alpha < C: any b between the bounds of step 5 is as good")
    return [*lines, f"   b = {_number(p.b, small=True)}"]


def _conditions(p: Problem, cases: list[str]) -> list[str]:
    lines = ["5. The optimality conditions (Karush, Kuhn, Tucker), object by object"]
    for i, (number, case) in enumerate(zip(p.numbers, cases, strict=True)):
        margin = float(p.y[i] * p.f[i])
        held = {"zero": margin >= 1 - 1e-3, "free": abs(margin - 1) <= 1e-3, "bound": margin <= 1 + 1e-3}[case]
        sign = _CONDITION[case][0]
        lines.append(
            f"   x{number}:  {_WHY[case]:<14} so y f must be {sign:<2} 1:  y f = {_number(margin)}, "
            f"slack = {_number(float(p.slack[i]), small=True)}   {'holds' if held else 'VIOLATED'}"
        )
    return lines


def _margins(p: Problem) -> list[str]:
    lines = ["6. The margin", f"   |w|^2 = sum_ij alpha_i alpha_j y_i y_j K_ij = {_number(p.norm**2)}"]
    if p.norm > 0:
        lines.append(f"   margin 1 / |w| = {_number(1 / p.norm)}; distances y f / |w|: " + ", ".join(
            f"x{number} {_number(float(value))}" for number, value in _pairs(p.numbers, p.y * p.f / p.norm)
        ))  # fmt: skip
    lines.append(f"   primal {_number(p.primal)}, dual {_number(p.dual)}, gap {_number(p.primal - p.dual, small=True)}")
    return lines


def as_latex(problem: Problem) -> str:
    """The same in LaTeX, as display formulas."""
    p = problem
    cases = p.cases()
    rows = r" \\ ".join(" & ".join(_number(float(value), small=True) for value in row) for row in p.K)
    y = r" \\ ".join(f"{sign:+.0f}" for sign in p.y)
    alpha = r" \\ ".join(_number(float(value)) for value in p.alpha)
    bounds = r"\alpha_i \ge 0" if np.isinf(p.upper).any() else r"0 \le \alpha_i \le C_i"
    balance = r", \quad \sum_i \alpha_i y_i = 0" if p.has_intercept else ""
    objective = r"\max_\alpha \; \sum_i \alpha_i - \tfrac{1}{2} \sum_{i,j} \alpha_i \alpha_j y_i y_j K_{ij}"
    parts = [
        rf"k(x, z) = {p.formula}",
        rf"K = \begin{{pmatrix}} {rows} \end{{pmatrix}}, \quad y = \begin{{pmatrix}} {y} \end{{pmatrix}}",
        rf"{objective} \quad \text{{s.t.}} \quad {bounds}{balance}",
        rf"\alpha^* = \begin{{pmatrix}} {alpha} \end{{pmatrix}}",
    ]
    if p.has_intercept:
        parts += [
            rf"b^* = y_{{{n}}} - \sum_j \alpha_j y_j K_{{j,{n}}} = {_number(float(p.y[i] - p.sums[i]), small=True)}"
            for i, n in enumerate(p.numbers)
            if cases[i] == "free"
        ]
    conditions = r" \\ ".join(
        rf"x_{{{n}}}: & \alpha_{{{n}}} = {_number(float(p.alpha[i]))} & "
        rf"y_{{{n}}} f(x_{{{n}}}) = {_number(float(p.y[i] * p.f[i]))} {_CONDITION[cases[i]][1]} 1 & "
        rf"\xi_{{{n}}} = {_number(float(p.slack[i]), small=True)}"
        for i, n in enumerate(p.numbers)
    )
    parts.append(rf"\begin{{array}}{{llll}} {conditions} \end{{array}}")
    width = rf", \quad \frac{{1}}{{\lVert w \rVert}} = {_number(1 / p.norm)}" if p.norm > 0 else ""
    parts.append(rf"\lVert w \rVert^2 = {_number(p.norm**2)}{width}")
    return "\n".join(f"$$ {part} $$" for part in parts)
