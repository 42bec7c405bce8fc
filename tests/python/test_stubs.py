"""The stubs name the functions and arguments that the extension modules have."""

import ast
import pathlib
import re

import pytest

import espalier


def stubbed(module):
    """{"plan": ["self", ...], "Plan.svg": [...]} of a stub; properties, attributes and constructors are left out."""
    tree = ast.parse((pathlib.Path(espalier.__file__).parent / f"{module}.pyi").read_text())
    found = {}
    for node in tree.body:
        functions = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for one in functions:
            if isinstance(one, ast.FunctionDef) and not any(getattr(d, "id", "") == "property" for d in one.decorator_list):
                found[prefix + one.name] = [argument.arg for argument in one.args.args]
    return found


def built(module):
    """The same of the module, from the signatures that pybind11 writes."""
    found = {}
    for name, value in vars(module).items():
        members = vars(value) if isinstance(value, type) else [""]
        for member in members:
            function = getattr(value, member) if member else value
            signature = re.match(r"\w+\((.*)\) -> ", getattr(function, "__doc__", None) or "")
            if signature and callable(function):
                names = re.findall(r"(?:^|, )(\w+): ", signature[1])
                found[f"{name}.{member}" if member else name] = names
    return found


@pytest.mark.parametrize("name", ["_espalier", "_espalier_mpi"])
def test_signatures(name):
    if name == "_espalier_mpi":
        pytest.importorskip("mpi4py.MPI")  # loads the MPI library so that its plug-ins find it
    module = __import__(f"espalier.{name}", fromlist=[name])
    of_stub, of_module = stubbed(name), built(module)
    assert of_stub.keys() == of_module.keys()
    for function, arguments in of_stub.items():
        assert arguments == of_module[function], function


def test_types():
    api = pytest.importorskip("mypy.api")
    package = pathlib.Path(espalier.__file__).parent
    out, _, status = api.run(["--strict", "--ignore-missing-imports", "--cache-dir=/dev/null", str(package)])
    assert status == 0, out
