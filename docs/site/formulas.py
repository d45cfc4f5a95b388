r"""Formulas of the reference, and how they are drawn: as pictures that take the colour of the text.

Written in the part of LaTeX that matplotlib draws, so that no browser needs a script for them. A kernel that is not
listed here shows the formula that `Kernel.latex` writes.
"""

import io

import matplotlib.pyplot as plt

_WORDS = r"\sum_{|u| = p} \mathrm{count}_u(s)\,\mathrm{count}_u(t)"
_PAIRS = r"\sum_{v \in T}\; \sum_{v' \in T'} D(v, v')"
_WAVES = r"\frac{2}{m} \sum_{i=1}^{m} \cos(w_i^\top x + b_i)\,\cos(w_i^\top z + b_i)"
_SCORES = r"\varphi(x)^\top I^{-1}\, \varphi(z), \quad \varphi = \nabla_\theta \log P_\theta"

KERNELS: dict[str, str] = {
    "Polynomial": r"k(x, z) = (\gamma\, x^\top z + c)^d",
    "Matern": r"k(x, z) = (1 + \sqrt{3}\, d)\, e^{-\sqrt{3}\, d}\;\; (\nu = 3/2), \quad d = \Vert x - z \Vert / \ell",
    "RationalQuadratic": r"k(x, z) = \left(1 + \frac{\Vert x - z \Vert^2}{2 \alpha \ell^2}\right)^{-\alpha}",
    "Periodic": r"k(x, z) = \exp\left(-\frac{2}{\ell^2} \sum_i \sin^2 \frac{\pi (x_i - z_i)}{\mathrm{period}}\right)",
    "ANOVA": r"k(x, z) = \sum_{i_1 < \dots < i_d}\; \prod_{j=1}^{d} x_{i_j} z_{i_j}",
    "Sigmoid": r"k(x, z) = \tanh(\gamma\, x^\top z + c)",
    "Spline": r"k(x, z) = \sum_{i=0}^{s} (xz)^i + \int_0^{\infty} (x - t)_+^s\, (z - t)_+^s\, dt",
    "IntervalMin": r"k(x, z) = \min(x, z) - \mathrm{lower}",
    "IntervalUnionComplement": r"k(x, z) = \mathrm{upper} - \max(x, z)",
    "IntervalAgreement": r"k(x, z) = (\mathrm{upper} - \mathrm{lower}) - |x - z|",
    "Tent": r"k(x, z) = \max(0,\; 2w - |x - z|)",
    "Randomised": r"k(x, z) = \frac{1}{m} \sum_{i=1}^{m} f_i(x)\, f_i(z)",
    "RandomFourierFeatures": rf"k(x, z) = {_WAVES} \approx e^{{-\gamma \Vert x - z \Vert^2}}",
    "LaplacianFeatures": rf"k(x, z) = {_WAVES} \approx e^{{-\gamma \Vert x - z \Vert_1}}",
    "MaternFeatures": rf"k(x, z) = {_WAVES}",
    "ArcCosineFeatures": r"k(x, z) = \frac{2}{m} \sum_{i=1}^{m} \max(0, w_i^\top x)^n\, \max(0, w_i^\top z)^n",
    "Spectrum": rf"k(s, t) = {_WORDS}",
    "BlendedSpectrum": r"k(s, t) = \sum_{q=1}^{p} \lambda^{2q} \sum_{|u| = q} \mathrm{count}_u(s)\,\mathrm{count}_u(t)",
    "Mismatch": r"k(s, t) = \sum_{|u| = p} \#\{v \in s: d(u, v) \leq m\}\;\#\{v \in t: d(u, v) \leq m\}",
    "GappedKmer": r"k(s, t) = \sum_{u \in s}\; \sum_{v \in t} \binom{l - d(u, v)}{k}, \quad |u| = |v| = l",
    "FixedLengthSubsequences": r"k(s, t) = \sum_{|u| = p} \#\{i: s_i = u\}\;\#\{j: t_j = u\}",
    "GapWeighted": r"k(s, t) = \sum_{|u| = p}\; \sum_{i:\, s_i = u}\; \sum_{j:\, t_j = u} \lambda^{\ell(i) + \ell(j)}",
    "GapNumberWeighted": r"k(s, t) = \sum_{|u| = p}\; \sum_{i:\, s_i = u}\; \sum_{j:\, t_j = u} \lambda^{g(i) + g(j)}",
    "AllSubsequences": r"k(s, t) = \sum_{u} \#\{i: s_i = u\}\;\#\{j: t_j = u\}",
    "CharacterWeighted": r"\varphi_u(s) = \sum_{i:\, s_i = u}\; \prod_{r = i_1}^{i_p} \lambda(s_r), \quad |u| = p",
    "SoftMatching": r"k(s, t) = \sum_{i, j} \lambda^{\ell(i) + \ell(j)} \prod_{r=1}^{p} A(s_{i_r}, t_{j_r})",
    "RestrictedGapWeighted": r"\varphi_u(s) = \sum_{i:\, s_i = u,\; \ell(i) \leq p + m} \lambda^{\ell(i)}, \quad |u| = p",
    "LocalAlignment": r"k(s, t) = 1 + \sum_{\mathrm{alignments}\ \pi} e^{\beta\, S(\pi)}",
    "LogLocalAlignment": r"\frac{1}{\beta} \log\left(1 + \sum_{\mathrm{alignments}\ \pi} e^{\beta\, S(\pi)}\right)",
    "WeightedDegree": r"k(s, t) = \sum_{q=1}^{d} \frac{2 (d - q + 1)}{d (d + 1)} \sum_i [s_{i..i+q-1} = t_{i..i+q-1}]",
    "SetIntersection": r"k(A, B) = \mu(A \cap B)",
    "SetUnionComplement": r"k(A, B) = \mu(D) - \mu(A \cup B)",
    "SetAgreement": r"k(A, B) = \mu(A \cap B) + \mu(D) - \mu(A \cup B)",
    "SubsetCount": r"k(A, B) = 2^{|A \cap B|}",
    "SetTanimoto": r"k(A, B) = \frac{|A \cap B|}{|A \cup B|}",
    "MultisetDot": r"k(A, B) = \sum_x m_A(x)\, m_B(x)",
    "MultisetIntersection": r"k(A, B) = \sum_x \min(m_A(x), m_B(x))",
    "MultisetMinMax": r"k(A, B) = \frac{\sum_x \min(m_A(x), m_B(x))}{\sum_x \max(m_A(x), m_B(x))}",
    "SubMultisetCount": r"k(A, B) = \prod_x (1 + \min(m_A(x), m_B(x)))",
    "LabelledSubMultisets": r"k(A, B) = \prod_x \binom{m_A(x) + m_B(x)}{m_A(x)}",
    "DerivedSubsets": r"k(A, B) = \sum_{a \in A}\; \sum_{b \in B} k_0(a, b)",
    "MeanEmbedding": r"k(A, B) = \frac{1}{|A|\,|B|} \sum_{a \in A}\; \sum_{b \in B} k_0(a, b)",
    "WeisfeilerLehman": r"k(G, G') = \sum_{i=0}^{h} \langle c_i(G),\, c_i(G') \rangle, \quad c_i = \mathrm{counts\ of\ colours}",
    "WeisfeilerLehmanOver": r"k(G, G') = \sum_{i=0}^{h} k_0(G_i, G'_i)",
    "WeisfeilerLehmanOptimalAssignment": r"k(G, G') = \sum_{i=0}^{h} \sum_{c} \min(\#_c(G_i),\, \#_c(G'_i))",
    "ShortestPath": r"k(G, G') = \sum_{a, b, d} \#_{a,b,d}(G)\;\#_{a,b,d}(G')",
    "Graphlet": r"k(G, G') = \frac{h(G)^\top h(G')}{\Vert h(G) \Vert\, \Vert h(G') \Vert}",
    "RandomWalk": r"k(G, G') = \sum_{j=0}^{\infty} \lambda^j\; 1^\top A_\times^j\, 1",
    "VertexHistogram": r"k(G, G') = \sum_{a} \#_a(V)\;\#_a(V')",
    "EdgeHistogram": r"k(G, G') = \sum_{a} \#_a(E)\;\#_a(E')",
    "ExponentialDiffusion": r"K = e^{\lambda B} = \sum_{j=0}^{\infty} \frac{\lambda^j}{j!} B^j",
    "VonNeumannDiffusion": r"K = (I - \lambda B)^{-1} = \sum_{j=0}^{\infty} \lambda^j B^j",
    "Heat": r"K = e^{-tL}, \quad L = D - A",
    "RegularisedLaplacian": r"K = (I + \sigma L)^{-1}",
    "CommuteTime": r"K = L^{+}",
    "CoRootedSubtree": r"k(T, T') = r(\mathrm{root}, \mathrm{root}'), \quad r(v, v') = \prod_i (1 + r(c_i, c'_i))",
    "AllSubtree": rf"k(T, T') = {_PAIRS}, \quad D(v, v') = \prod_i (1 + D(c_i, c'_i))",
    "SubsetTree": rf"k(T, T') = {_PAIRS}, \quad D(v, v') = \lambda \prod_i (1 + D(c_i, c'_i))",
    "Subtree": r"k(T, T') = \sum_{\mathrm{subtrees}\ u} \lambda^{|u|}\; \#_u(T)\;\#_u(T')",
    "PartialTree": rf"k(T, T') = {_PAIRS}, \quad D = \mu \left(\lambda^2 + \sum_{{I, J}} \lambda^{{\ell(I) + \ell(J)}} \prod_r D(c_{{I_r}}, c'_{{J_r}})\right)",
    "GlobalAlignment": r"k(x, z) = \sum_{\mathrm{alignments}\ \pi}\; \prod_{(i, j) \in \pi} \kappa(x_i, z_j)",
    "DynamicTimeWarping": r"\exp\left(-\gamma\, \min_{\pi} \sum_{(i, j) \in \pi} \Vert x_i - z_j \Vert^2\right)",
    "VectorSpace": r"k(d, e) = \sum_{t} w(t)^2\; \mathrm{tf}(t, d)\; \mathrm{tf}(t, e)",
    "LatentSemantic": r"k(x, z) = \sum_{i=1}^{k} \psi_i(x)\, \psi_i(z), \quad \psi_i(x) = \lambda_i^{-1/2} \sum_j v_{ij}\, k_0(x_j, x)",
    "Nystrom": r"k(x, z) = k_0(x, Z)\; K_0(Z, Z)^{-1}\; k_0(Z, z)",
    "FixedLengthHMM": r"k(s, t) = \sum_{h} P(h)\, P(s \mid h)\, P(t \mid h)",
    "HiddenTree": r"k(s, t) = \sum_{h} P(h)\, P(s \mid h)\, P(t \mid h)",
    "MarkovFisher": rf"k(s, t) = {_SCORES}".replace("(x)", "(s)").replace("(z)", "(t)"),
    "HMMFisher": rf"k(s, t) = {_SCORES}".replace("(x)", "(s)").replace("(z)", "(t)"),
    "GaussianMixtureFisher": rf"k(x, z) = {_SCORES}",
    "PairHMM": r"k(s, t) = \sum_{\pi} P(s, t, \pi)",
    "Precomputed": r"k(i, j) = K_{ij}",
    "FromBlocks": r"(k(x_i, z_j))_{ij} = f(X, Z)",
    "FromFunction": r"k(x, z) = f(x, z)",
    "OnColumns": r"k(x, z) = k_0(x_{\mathrm{columns}},\, z_{\mathrm{columns}})",
    "Sum": r"k(x, z) = k_1(x, z) + k_2(x, z) + \dots",
    "Product": r"k(x, z) = k_1(x, z)\; k_2(x, z) \cdots",
    "Scaled": r"k(x, z) = c\; k_0(x, z), \quad c > 0",
    "Power": r"k(x, z) = k_0(x, z)^d",
    "ExpOf": r"k(x, z) = e^{k_0(x, z)}",
    "PolynomialOf": r"k(x, z) = \sum_i c_i\, k_0(x, z)^i, \quad c_i \geq 0",
    "Constant": r"k(x, z) = c \geq 0",
    "Normalised": r"k(x, z) = \frac{k_0(x, z)}{\sqrt{k_0(x, x)\; k_0(z, z)}}",
    "Centred": r"k(x, z) = \langle \varphi_0(x) - \bar\varphi_0,\; \varphi_0(z) - \bar\varphi_0 \rangle",
    "PullBack": r"k(x, z) = k_0(\varphi(x), \varphi(z))",
    "DagKernel": r"k(x, z) = \sum_{\mathrm{paths}\ p}\; \prod_{e \in p} k_e(x, z)",
}  # fmt: skip
_MACHINE = r"\min_{f}\; \frac{1}{2} \Vert w \Vert^2 + C \sum_i "
LEARNERS: dict[str, str] = {
    "SVC": _MACHINE + r"\max(0,\; 1 - y_i f(x_i)), \quad f(x) = \langle w, \varphi(x) \rangle + b",
    "NuSVC": r"\min_{f,\, \rho \geq 0}\; \frac{1}{2} \Vert w \Vert^2 - \nu \rho + \frac{1}{n} \sum_i \max(0,\; \rho - y_i f(x_i))",
    "LinearSVC": r"\min_{w, b}\; \frac{1}{2} \Vert w \Vert^2 + C \sum_i \max(0,\; 1 - y_i (w^\top x_i + b))^2",
    "KernelLogisticRegression": _MACHINE + r"\log(1 + e^{-y_i f(x_i)})",
    "KernelMachineClassifier": _MACHINE + r"\mathrm{loss}(y_i, f(x_i))",
    "KernelMachineRegressor": _MACHINE + r"\mathrm{loss}(y_i, f(x_i))",
    "KernelRidgeClassifier": r"\min_{f}\; \sum_i (y_i - f(x_i))^2 + \alpha \Vert w \Vert^2, \quad y_i = \pm 1",
    "KernelFisherDiscriminant": r"\max_{w}\; \frac{w^\top S_b\, w}{w^\top (S_t + \alpha I)\, w}",
    "OneClassSVM": r"\min_{w, \rho}\; \frac{1}{2} \Vert w \Vert^2 - \nu n \rho + \sum_i \max(0,\; \rho - \langle w, \varphi(x_i) \rangle)",
    "KernelRidge": r"\min_{f}\; \sum_i (y_i - f(x_i))^2 + \alpha \Vert w \Vert^2",
    "KernelRidgeCV": r"\min_{\alpha}\; \sum_i \left(\frac{y_i - \hat y_i}{1 - H_{ii}}\right)^2, \quad H = K (K + \alpha I)^{-1}",
    "SVR": _MACHINE + r"\max(0,\; |y_i - f(x_i)| - \varepsilon)",
    "NuSVR": r"\min_{f, \varepsilon}\; \frac{1}{2} \Vert w \Vert^2 + C \left(\nu n \varepsilon + \sum_i \max(0,\; |y_i - f(x_i)| - \varepsilon)\right)",
    "LinearSVR": r"\min_{w, b}\; \frac{1}{2} \Vert w \Vert^2 + C \sum_i \max(0,\; |y_i - w^\top x_i - b| - \varepsilon)",
    "KernelQuantileRegressor": _MACHINE + r"\max(\tau r_i,\; (\tau - 1) r_i), \quad r_i = y_i - f(x_i)",
    "KernelPCA": r"H K H\, u_j = \lambda_j u_j, \quad \mathrm{scores} = \sqrt{\lambda_j}\, u_j, \quad H = I - \frac{1}{n} 1 1^\top",
    "KernelCCA": r"\max_{f, g}\; \mathrm{cov}(f(x), g(y)) \;\;\; \mathrm{with} \;\;\; \mathrm{var} f + \alpha \Vert f \Vert^2 = \mathrm{var}\, g + \alpha \Vert g \Vert^2 = 1",
    "KernelKMeans": r"\min\; \sum_{\mathrm{clusters}\ S}\; \sum_{i \in S} \Vert \varphi(x_i) - \bar\varphi_S \Vert^2",
    "SpectralClustering": r"D^{-1/2} W D^{-1/2} u_j = \lambda_j u_j, \quad W = K - \mathrm{diag}(K)",
    "GradientKernelMachine": r"z \leftarrow z - \eta\, \frac{\partial E}{\partial z}, \quad f(x) = \sum_i z_i\, k(x_i, x) + b",
    "KernelPerceptron": r"x_i\ \mathrm{misclassified} \;\Rightarrow\; \alpha_i \leftarrow \alpha_i + 1, \quad f(x) = b + \sum_i \alpha_i y_i\, k(x_i, x)",
    "PrimalPerceptron": r"x_i\ \mathrm{misclassified} \;\Rightarrow\; w \leftarrow w + \eta\, y_i x_i, \quad b \leftarrow b + \eta\, y_i",
    "SubgradientSVM": r"w \leftarrow w + \eta \left(C \sum_{i:\, y_i f(x_i) < 1} y_i x_i - 2 w\right)",
    "MultipleKernelMachine": r"k(x, z) = \sum_m \beta_m\, k_m(x, z), \quad \beta_m \geq 0",
    "Cells": r"f(x) = f_{c(x)}(x), \quad c(x) = \mathrm{the\ cell\ of\ } x",
    "KernelSearchCV": r"\max_{\theta}\; \frac{1}{K} \sum_{k=1}^{K} \mathrm{score}(f_{\theta, -k},\; \mathrm{fold}\ k)",
}  # fmt: skip
LOSSES: dict[str, str] = {
    "Hinge": r"l(y, f) = \max(0,\; 1 - y f)",
    "SquaredHinge": r"l(y, f) = \max(0,\; 1 - y f)^2",
    "SmoothHinge": r"l(y, f) = \log(1 + e^{1 - y f})",
    "Logistic": r"l(y, f) = \log(1 + e^{-y f})",
    "Multinomial": r"l(y, f) = \log \sum_k e^{f_k} - f_y",
    "PerceptronLoss": r"l(y, f) = \max(0,\; -y f)",
    "Squared": r"l(y, f) = \frac{1}{2} (y - f)^2",
    "EpsilonInsensitive": r"l(y, f) = \max(0,\; |y - f| - \varepsilon)",
    "SquaredEpsilonInsensitive": r"l(y, f) = \max(0,\; |y - f| - \varepsilon)^2",
    "Huber": r"l(y, f) = \frac{1}{2} r^2 \;\; (|r| \leq \delta), \quad \delta\, (|r| - \frac{\delta}{2}) \;\; (|r| > \delta), \quad r = y - f",
    "Quantile": r"l(y, f) = \max(\tau r,\; (\tau - 1) r), \quad r = y - f",
}  # fmt: skip


def drawn(latex: str) -> str:
    """A formula as markup of Sphinx: a drawing, with its source for those who do not see it."""
    figure = plt.figure(figsize=(0.1, 0.1))
    try:
        figure.text(0, 0, f"${_drawable(latex)}$", fontsize=15)
        with io.StringIO() as file:
            figure.savefig(file, format="svg", bbox_inches="tight", pad_inches=0.05, transparent=True)
            svg = file.getvalue()
    finally:
        plt.close(figure)
    svg = svg[svg.index("<svg") :].replace("#000000", "currentColor").replace("<g id=", '<g fill="currentColor" id=', 1)
    alt = latex.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")
    body = "".join(f"   {line}\n" for line in svg.splitlines())
    return f'.. raw:: html\n\n   <div class="formula" role="img" aria-label="{alt}">\n{body}   </div>\n'


def _drawable(latex: str) -> str:
    """The same for matplotlib, which knows fewer names of symbols."""
    latex = latex.replace(r"\left\lVert", r"\Vert").replace(r"\right\rVert", r"\Vert")  # its tall bars are too thin
    for ours, theirs in ((r"\lVert", r"\Vert"), (r"\rVert", r"\Vert"), (r"\lt", "<"), (r"\colon", ":")):
        latex = latex.replace(ours, theirs)
    return latex
