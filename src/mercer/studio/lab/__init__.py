"""For people who think about kernels: pairs of objects, formulas, and Gram matrices."""
