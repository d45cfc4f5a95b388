"""Files of every kind: Mercer detects what is in them from content and suffix, checks it, and reports it.

    from mercer.readers import read

    data = read("patients.csv", target="diagnosis")

Nothing in a file is ever executed; files that are too large, broken or hostile are refused with messages that name the
file, the line and the column.
"""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
