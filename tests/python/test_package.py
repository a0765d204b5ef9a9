# SPDX-License-Identifier: Apache-2.0
"""The package itself: documented, typed, and free of files of others."""

import ast
import inspect
import pathlib
import subprocess
import sys

import tessera as ts

from conftest import ROOT


def test_every_public_name_is_documented():
    for name in ts.__all__:
        thing = getattr(ts, name)
        if name == "__version__":
            continue
        assert inspect.getdoc(thing), name
        if not inspect.isclass(thing):
            continue
        for member, value in vars(thing).items():
            is_call = inspect.isroutine(value) or isinstance(value, property)
            if is_call and not member.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{member}"


def names_in(body):
    """The names that statements of a stub define, and what classes among them contain."""
    names = {}
    for node in body:
        if isinstance(node, ast.ClassDef):
            bases = [base.id for base in node.bases]
            own = set(names_in(node.body))
            names[node.name] = own.union(*(names[base] for base in bases))
        elif isinstance(node, ast.FunctionDef):
            names[node.name] = set()
        elif isinstance(node, ast.AnnAssign):
            names[node.target.id] = set()
    return names


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


def test_the_module_has_what_its_stub_says():
    stub = names_in(ast.parse((ROOT / "python/tessera/_native.pyi").read_text()).body)
    assert set(stub) == public(ts._native)
    for name, members in stub.items():
        thing = getattr(ts._native, name)
        if inspect.isclass(thing):
            assert members - {"__init__"} == public(thing), name


def mypy(*paths):
    command = ["mypy", "--config-file", str(ROOT / "pyproject.toml"), "--no-incremental",
               "--python-executable", sys.executable, *map(str, paths)]
    folder = pathlib.Path(ts.__file__).parents[1]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_types_are_those_of_users():
    folder = pathlib.Path(__file__).parent
    result = mypy("tessera", folder / "typed_use.py")
    assert result.returncode == 0, result.stdout
