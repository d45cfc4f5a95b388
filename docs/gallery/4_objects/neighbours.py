"""
Which training objects decided?
===============================

A kernel machine compares a new object with each support object: f(x) is a sum of coefficient times similarity. So every
prediction comes with its reasons, whatever the objects are, and the largest terms can be read aloud.
"""

import matplotlib.pyplot as plt

from mercer import SVC, kernels
from mercer.plots import SupportDisplay

names = {
    "Italian": "rossi russo ferrari esposito bianchi romano colombo ricci marino greco bruno gallo conti costa".split(),
    "Polish": "nowak kowalski wisniewski wojcik kowalczyk kaminski lewandowski zielinski szymanski wozniak".split(),
}
words = [name for group in names.values() for name in group]
origins = [origin for origin, group in names.items() for _ in group]
model = SVC(kernel=kernels.normalise(kernels.BlendedSpectrum(p=3)), C=10).fit(words, origins)
for new in ("moretti", "jankowski", "santini"):
    print(new, "->", model.predict([new])[0])

# %%
# Below zero is Italian, above is Polish.

figure, axes = plt.subplots(1, 2, figsize=(11, 4.4))
for ax, new in zip(axes, ("moretti", "jankowski"), strict=True):
    SupportDisplay.from_estimator(model, new, most=8, ax=ax)
plt.show()
