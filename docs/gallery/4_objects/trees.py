"""
Twins among programs
====================

Python's parser turns source code into a tree. A tree kernel counts the fragments that two trees share, so it compares
programs by their structure and does not care about names. Given the functions of two modules of the standard library,
it finds those that were written as twins.
"""

import ast
import bisect
import heapq
import inspect

import matplotlib.pyplot as plt
import numpy as np

from mercer import kernels
from mercer.plots import KernelMatrixDisplay

functions = {
    node.name: node
    for module in (bisect, heapq)
    for node in ast.walk(ast.parse(inspect.getsource(module)))
    if isinstance(node, ast.FunctionDef)
}
print(", ".join(functions))

# %%
# A tree is a tuple: its label and its children. Names and numbers stay outside.


def tree(node):
    children = [tree(child) for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr_context)]
    return (type(node).__name__, *children)


kernel = kernels.normalise(kernels.SubsetTree(decay=0.4))
trees = [tree(node) for node in functions.values()]
figure, ax = plt.subplots(figsize=(8, 6.6))
shown = KernelMatrixDisplay.from_kernel(kernel, trees, order="seriation", ax=ax)
names = np.array(list(functions))[shown.order]
ax.set_xticks(np.arange(len(names)) + 0.5, names, rotation=90, fontsize=7)
ax.set_yticks(np.arange(len(names)) + 0.5, names, fontsize=7)
ax.set(title="Functions of bisect and heapq, by their syntax", xlabel="")

# %%
# The closest pairs.

gram = np.triu(shown.matrix, 1)
for place in np.argsort(-gram, axis=None)[:5]:
    one, other = np.unravel_index(place, gram.shape)
    print(f"{gram[one, other]:.2f}  {list(functions)[one]} and {list(functions)[other]}")
