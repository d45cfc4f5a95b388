"""The same machines on a Dask cluster: see `use`. Needs the extra ``mercer[dask]``."""

from mercer._public import attach

__getattr__, __dir__, __all__ = attach(__name__)
