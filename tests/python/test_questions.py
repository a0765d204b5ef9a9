# SPDX-License-Identifier: Apache-2.0
"""Tiles, modes and formulas."""

import itertools
import json

import pytest

import tessera as ts

from conftest import ROOT


def test_the_largest_tile_is_found(chain, npu):
    small = npu.with_({"memories.sram.capacity_bytes": 32768})
    answer = ts.find_tiles(chain, small, operators="a..b")
    assert answer.outcome == "feasible" and answer.largest
    assert all(tile.peak <= 32768 for tile in answer.tiles)
    assert json.loads(answer.json) and answer.text
    one = ts.find_tiles(chain, small, operators="a..b", tile="32x32")
    assert {tile.shape for tile in one.tiles} == {"1x16x32x32"}


def test_modes_that_a_chip_does_not_need(chain):
    chip = ts.Profile(ROOT / "hw_profiles/three_bank_two_mode.yaml")
    plan = ts.plan(chain, chip)
    answer = ts.modes([plan])
    assert answer.outcome in ("optimal", "feasible") and answer.memories[0].keep
    assert ts.Profile.parse(answer.reduced).name == chip.name
    with pytest.raises(TypeError):
        ts.modes([plan, chip])


def solve(dimacs):
    """The model of a small formula, as a solver prints it, by trying every assignment."""
    lines = [line.split() for line in dimacs.splitlines() if line and line[0] != "c"]
    count = int(lines[0][2])
    clauses = [[int(word) for word in line[:-1]] for line in lines[1:]]
    for signs in itertools.product((1, -1), repeat=count):
        model = [sign * (i + 1) for i, sign in enumerate(signs)]
        if all(any(literal in model for literal in clause) for clause in clauses):
            return "s SATISFIABLE\nv " + " ".join(map(str, model)) + " 0\n"
    return "s UNSATISFIABLE\n"


def test_formulas_are_solved_by_others():
    text = "id,lower,upper,size\na,0,3,1\nb,2,9,1\n"
    problem = ts.Problem.parse(text)
    formula = problem.encode(capacity=2)
    assert ts.decode(problem, formula, solve(formula)).peak == 2
    formula = problem.encode(capacity=1)
    with pytest.raises(ts.Unknown):
        ts.decode(problem, formula, "s UNSATISFIABLE\n")
