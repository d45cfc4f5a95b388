"""
Which atoms decided?
====================

The polar surface of a molecule decides whether it can cross a membrane. Here a machine learns it from a thousand
molecules of the US National Cancer Institute that come with RDKit. It knows nothing of polarity: it sees atoms,
bonds and their neighbourhoods. Then we ask about molecules that everybody knows, and colour each atom by what it
contributed.
"""

import os

import matplotlib.pyplot as plt
from rdkit import Chem, RDConfig, RDLogger

from mercer import KernelRidge, kernels
from mercer.inputs.molecules import molecular_graphs
from mercer.plots import GraphExplanationDisplay

RDLogger.DisableLog("rdApp.*")
with open(os.path.join(RDConfig.RDDataDir, "NCI", "first_5k.tpsa.csv"), encoding="utf-8") as file:
    rows = [line.strip().split(",") for line in file if not line.startswith("#")]
smiles, surface = zip(*[(text, float(area)) for text, area in rows if Chem.MolFromSmiles(text)][:1500], strict=True)

model = KernelRidge(kernel=kernels.WeisfeilerLehman(h=2), alpha=1.0).fit(
    molecular_graphs(smiles[:1000]), surface[:1000]
)
score = model.score(molecular_graphs(smiles[1000:]), surface[1000:])
print(f"{score:.1%} of the variance on 500 new molecules is explained")

# %%
# The prediction is a sum over atoms, in square ångström. Large, orange atoms add to the polar surface, and they are
# the oxygens and nitrogens: the machine found out by itself what every chemist knows.

known = {
    "caffeine": "CN1C=NC2=C1C(=O)N(C(=O)N2C)C",
    "aspirin": "CC(=O)OC1=CC=CC=C1C(=O)O",
    "ibuprofen": "CC(C)CC1=CC=C(C=C1)C(C)C(=O)O",
    "nicotine": "CN1CCCC1C2=CN=CC=C2",
}
figure, axes = plt.subplots(2, 2, figsize=(12, 9))
for ax, (name, text) in zip(axes.ravel(), known.items(), strict=True):
    shown = GraphExplanationDisplay.from_smiles(model, text, ax=ax)
    ax.set_title(f"{name}: {shown.value:.0f} Å² predicted")
