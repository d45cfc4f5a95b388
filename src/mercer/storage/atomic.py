"""Replacing a file whole or not at all: model files are written so, and whatever lies beside them."""

from mercer._atomic import replacing as replacing
