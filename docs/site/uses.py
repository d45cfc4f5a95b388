"""What learners, losses, displays and commands cost, and when to reach for them, as `advice` says it of kernels.

n is the number of training objects, m of support objects, d of columns or explicit features.
"""

_GRAM = "at most n² kernel values, of which as many are kept as `memory` allows; steps that grow between n² and n³"
_DENSE = "n² kernel values and n³/3 operations once; with d < n explicit features, n d² instead"
_NEWTON = "n² kernel values; a few Newton steps of up to n³/3 operations each"
_STEPS = "one pass over all n objects for each step"

LEARNERS: dict[str, tuple[str, str]] = {
    "SVC": (
        f"training: {_GRAM}; prediction: one kernel value for each support object",
        "The first classifier to try. Few support objects make it quick to predict with.",
    ),
    "NuSVC": (
        f"as `SVC`: {_GRAM}",
        "You know what fraction of errors to expect, rather than a price for them.",
    ),
    "LinearSVC": (
        "n d for each step, never n²; prediction: d",
        "Many objects, or text and counts with many sparse columns; every kernel with explicit features.",
    ),
    "KernelLogisticRegression": (
        f"{_NEWTON}; every object is a support object",
        "Probabilities matter as much as labels.",
    ),
    "KernelMachineClassifier": (
        "as `SVC` for losses with kinks, as `KernelLogisticRegression` for smooth ones",
        "A loss of your own, or one that no other learner has.",
    ),
    "KernelMachineRegressor": (
        "as `SVR` for losses with kinks, as `KernelRidge` for smooth ones",
        "A loss of your own, or a robust one such as Huber's.",
    ),
    "KernelRidgeClassifier": (
        _DENSE,
        "Many classes at once, or several labels for each object: one factorisation serves all of them.",
    ),
    "KernelFisherDiscriminant": (
        f"{_DENSE}, and an eigenproblem as large as the number of classes",
        "You want to see the classes: a few directions that tell them apart.",
    ),
    "OneClassSVM": (
        _GRAM,
        "There are examples of the normal only, and new objects may be anything.",
    ),
    "KernelRidge": (
        _DENSE,
        "The first regressor to try below some 20,000 objects; with a standard deviation on request.",
    ),
    "KernelRidgeCV": (
        "a few times one `KernelRidge`, however many alphas are tried",
        "As `KernelRidge`, when you do not know alpha. Nobody does.",
    ),
    "SVR": (
        f"training: {_GRAM}; prediction: one kernel value for each support object",
        "Regression with outliers, or predictions that must be quick: few objects support the function.",
    ),
    "NuSVR": (
        f"as `SVR`: {_GRAM}",
        "You know what fraction of objects may lie outside the tube, rather than its width.",
    ),
    "LinearSVR": (
        "n d for each step, never n²; prediction: d",
        "Many objects, or many sparse columns.",
    ),
    "KernelQuantileRegressor": (
        f"for each quantile {_GRAM}, on one Gram matrix",
        "You want a band or a worst case, not a mean: deliveries, loads, growth charts.",
    ),
    "KernelPCA": (
        "n² kernel values for each product with the matrix; a few dozen products for a few components",
        "A map of objects that are not vectors, or a few columns that stand for them.",
    ),
    "KernelCCA": (
        "two Gram matrices and n³ operations",
        "Two descriptions of the same objects: what do they have in common?",
    ),
    "KernelKMeans": (
        "n² operations for each round; `n_init` starts",
        "Round clusters in a feature space, of any objects.",
    ),
    "SpectralClustering": (
        "n² kernel values for each product with the matrix, a few dozen products",
        "Clusters of any shape that hang together: rings, moons, communities.",
    ),
    "GradientKernelMachine": (
        f"n² for each step; {_STEPS}",
        "To watch gradient descent. For work, use `KernelLogisticRegression` or `SVC`.",
    ),
    "KernelPerceptron": (
        "one column of the Gram matrix for each mistake",
        "To watch the perceptron. For work, use `SVC`.",
    ),
    "PrimalPerceptron": (
        "d for each object of each epoch",
        "To watch the perceptron on vectors. For work, use `LinearSVC`.",
    ),
    "SubgradientSVM": (
        "n d for each batch step, d for each stochastic one",
        "To watch subgradient descent. For work, use `LinearSVC`.",
    ),
    "Cells": (
        "n times the size of a cell, in time and in kernel values",
        "Hundreds of thousands of objects and a function that varies quickly.",
    ),
    "KernelSearchCV": (
        "one Gram matrix for each kernel, and one training for each fold and setting, from the solution before it",
        "Whenever you would use `GridSearchCV` with a kernel machine.",
    ),
    "MultipleKernelMachine": (
        "a few trainings of its machine; one Gram matrix for each kernel",
        "Several descriptions of the same objects, of which some may be useless.",
    ),
}
_KINKED = "exact coordinate steps on the dual; few support objects"
_SMOOTH = "Newton steps; every object is a support object"
LOSSES: dict[str, tuple[str, str]] = {
    "Hinge": (_KINKED, "classification: the loss of `SVC`"),
    "SquaredHinge": (
        _KINKED,
        "classification in which large errors should cost more; smooth enough for Newton on weights",
    ),
    "SmoothHinge": (_SMOOTH, "the hinge of the lectures, rounded off; for gradient descent"),
    "Logistic": (_SMOOTH, "probabilities of two classes: the loss of `KernelLogisticRegression`"),
    "Multinomial": (f"{_SMOOTH}, all classes in one problem", "probabilities of several classes"),
    "PerceptronLoss": (_KINKED, "to compare with the perceptron; without a penalty its best machine is f = 0"),
    "Squared": ("one factorisation of the Gram matrix", "regression to the mean: the loss of `KernelRidge`"),
    "EpsilonInsensitive": (_KINKED, "regression with outliers and few support objects: the loss of `SVR`"),
    "SquaredEpsilonInsensitive": (_KINKED, "regression in which small errors are free and large ones dear"),
    "Huber": (_KINKED, "regression to the mean that outliers cannot drag along"),
    "Quantile": (_KINKED, "quantiles: the loss of `KernelQuantileRegressor`"),
}
DISPLAYS: dict[str, tuple[str, str, str]] = {
    "EigenvalueDisplay": ("n³ operations", "How many directions of a kernel matter, and is any eigenvalue negative?", "3_matrices/spectrum 1"),
    "FeatureSpaceDisplay": ("a few thousand operations, or one kernel PCA", "What does the feature space look like?", "2_trick/ring 1"),
    "GraphExplanationDisplay": ("one explanation", "Which nodes or atoms decided?", "4_objects/molecules 1"),
    "KernelMatrixDisplay": ("one Gram matrix", "Do objects of one class resemble each other?", "3_matrices/good_and_bad 2"),
    "KernelTrickDisplay": ("seconds: it measures", "What does the kernel trick save?", "2_trick/cost 1"),
    "MarginDisplay": ("predictions on a grid of `resolution` by `resolution` points", "Where does a classifier of two columns decide, and how sure is it?", "1_margins/margin_and_c 1"),
    "SequenceExplanationDisplay": ("one explanation", "Which positions of a sequence decided?", "4_objects/strings_explained 1"),
    "SupportDisplay": ("one prediction", "Which training objects made this prediction?", "4_objects/neighbours 1"),
    "TraceDisplay": ("none: the trace is there", "How did a teaching algorithm get along?", "1_margins/expansion_descent 1"),
    "ValidationSurfaceDisplay": ("one cross-validation for each cell", "Where do good values of C and gamma lie?", "6_choosing/validation_surface 1"),
}  # fmt: skip
"""The third says which picture of the gallery shows it."""
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("about a minute", "You have no data at hand, or want to know that the installation works."),
    "fit": ("seconds to minutes; `--time-limit` bounds it, Ctrl-C loses nothing", "You have a file and want a model."),
    "predict": ("a stream: memory does not grow with the file", "You have a model and new objects."),
    "evaluate": ("one prediction for each object", "You have new objects with labels, and want to know how good the model is on them."),
    "serve": ("one warm process", "Another program asks for predictions over HTTP."),
    "compare": ("a cross-validation for each kernel, on shared Gram matrices", "You want to know which kernel suits a file, and by how much."),
    "diagnose": ("a Gram matrix of a sample", "A model is bad and you want to know why, or a kernel is new."),
    "check": ("one reading of the file", "Before training: is the file read as you meant it?"),
    "info": ("none", "You were given a model file and want to know what is in it."),
    "convert": ("one reading of the file", "You come from LIBSVM, or go there."),
    "kernels": ("none", "You look for a kernel, its parameters, or the proof that an expression is one."),
    "studio": ("a local server, until Ctrl-C", "You would rather look and click than type."),
}  # fmt: skip
