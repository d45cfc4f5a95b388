"""
From a line to a parabola
=========================

The smallest lift of all: numbers on a line, one class in the middle and the other at both ends. No threshold
separates them. With x² as a second coordinate, a straight line does.
"""

import matplotlib.pyplot as plt

from mercer.plots import FeatureSpaceDisplay

FeatureSpaceDisplay.from_lift("parabola")
plt.show()
