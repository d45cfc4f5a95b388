"""Atomic replacement of files, for model files and the files next to them."""

from mercer._atomic import replacing as replacing
