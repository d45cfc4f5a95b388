"""Public names come from the stub of a package, and from nowhere else."""

import ast
import importlib
import importlib.resources
import sys

import pytest

from mercer._public import attach, homes


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "lazy_example"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from mercer._public import attach\n__getattr__, __dir__, __all__ = attach(__name__)\n"
    )
    (folder / "__init__.pyi").write_text(
        "from lazy_example import part as part\nfrom lazy_example.home import Thing as Thing\n"
    )
    (folder / "home.py").write_text("class Thing: pass\n")
    (folder / "part.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield importlib.import_module("lazy_example")
    for name in [name for name in sys.modules if name.startswith("lazy_example")]:
        del sys.modules[name]


def test_names_are_loaded_on_first_use(package):
    assert "lazy_example.home" not in sys.modules
    assert package.Thing is sys.modules["lazy_example.home"].Thing
    assert package.part is sys.modules["lazy_example.part"]


def test_names_are_those_of_the_stub(package):
    assert package.__all__ == dir(package) == ["Thing", "part"]
    assert homes("lazy_example") == {"Thing": "lazy_example.home", "part": "lazy_example"}
    with pytest.raises(AttributeError, match="module 'lazy_example' has no attribute 'Other'"):
        package.Other  # noqa: B018


@pytest.mark.parametrize("name", ["mercer", "mercer.cluster", "mercer.plots"])
def test_stubs_hold_imports_alone(name):
    stub = importlib.resources.files(name).joinpath("__init__.pyi").read_text(encoding="utf-8")
    nodes = ast.parse(stub).body
    assert all(isinstance(node, ast.ImportFrom) and node.names[0].asname == node.names[0].name for node in nodes)
    assert len(attach(name)[2]) == len(nodes)
