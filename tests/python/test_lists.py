# SPDX-License-Identifier: Apache-2.0
"""Lists of buffers in other formats, in figures and generated; fitted profiles; differences;
fronts and choices."""

import pickle

import pytest

import tessera as ts

INCLUSIVE = "id,start,end,size\na,0,3,8\nb,3,5,4\nc,4,6,8\n"


def test_formats_of_other_tools(tmp_path):
    problem = ts.Problem.parse(INCLUSIVE, lifetimes="inclusive")
    assert problem.render("csv") == "id,lower,upper,size\na,0,4,8\nb,3,6,4\nc,4,7,8\n"
    assert problem.render("csv", lifetimes="inclusive") == INCLUSIVE
    path = tmp_path / "tensors.json"
    path.write_text(problem.render("executorch"))
    again = ts.Problem.load(path, format="executorch")
    assert ts.allocate(again, minimize=True).peak == ts.allocate(problem, minimize=True).peak == 12
    assert again.notes == [] and len(pickle.loads(pickle.dumps(again))) == 3
    with pytest.raises(ts.BadInput, match="executorch"):
        problem.render("onnx")
    with pytest.raises(ts.BadInput, match="end"):
        ts.Problem.parse(INCLUSIVE)


def test_figures():
    [memory] = ts.Problem.parse(INCLUSIVE, lifetimes="inclusive").statistics()
    assert (memory["buffers"], memory["load"], memory["pairs"]) == (3, 12, 2)


def test_generated_problems():
    first = ts.generate_problem("log-uniform", 50, seed=3, alive=8, penalties=4)
    assert len(first) == 50
    assert first.render("json") == ts.generate_problem(
        "log-uniform", 50, seed=3, alive=8, penalties=4
    ).render("json")
    placed = ts.allocate(ts.generate_problem("perfect", 30), minimize=True)
    solved = ts.Problem.parse(placed.render("csv"))
    fixed = solved.vary(fixed=1)
    assert list(ts.allocate(fixed).offsets) == list(placed.offsets)
    with pytest.raises(ts.BadInput, match="log-uniform"):
        ts.generate_problem("log-unform")
    with pytest.raises(TypeError):
        ts.generate_problem("random", alive="many")


def test_fitted_profiles(mobilenet, npu):
    slow = npu.with_({"memories.dram.port.read_bytes_per_cycle": 6})
    rows = []
    for operator in ("block2_expand", "block3_expand", "block5_project", "block9_expand", "block13_expand"):
        for tile in ts.find_tiles(mobilenet, slow, operators=operator, all=True).tiles:
            if tile.tiles == 1 and tile.policy == "resident":
                rows.append(f"net,{operator},{tile.latency_cycles}")
    text = "network,operators,cycles\n" + "\n".join(rows)
    fit = ts.fit_profile(npu, text, {"net": mobilenet})
    assert fit.errors["after"]["median"] < fit.errors["before"]["median"]
    assert {each["outcome"] for each in fit.constants} >= {"fitted"} and not fit.stopped
    assert "bytes_per_cycle" in str(fit)
    assert fit.profile.to_dict() != npu.to_dict()
    with pytest.raises(ts.BadInput):
        ts.fit_profile(npu, "/nowhere.csv")


def test_differences(npu, mobilenet):
    plan = ts.plan(mobilenet, npu, budget=2000)
    other = ts.plan(mobilenet, npu.with_({"memories.sram.capacity_bytes": 786432}), budget=2000)
    changes = plan.difference(other)
    assert not changes["same"] and changes["totals"]["latency"]["first"] == plan.totals["latency"]
    assert plan.difference(plan)["same"]


def test_fronts(npu, mobilenet):
    network = ts.load_network(mobilenet.to_dict())
    front = ts.find_front(network, npu, most_searches=4, budget=2000, max_operators=4)
    assert front.points and front.searches <= 4 and "none better" in str(front)
    latencies = [point.plan.totals["latency"] for point in front.points]
    assert latencies == sorted(latencies)
    with pytest.raises(ts.Infeasible, match="peak"):
        ts.find_front(network, npu, limits={"peak": 1})
    with pytest.raises(ts.BadInput):
        ts.find_front(network, npu, most_searches=0)


def test_choices():
    problem = ts.Problem.parse(
        "id,lower,upper,size,value,fallback\na,0,4,2,,\nb,0,4,4,5,\nc,0,4,4,4,\nd,0,4,4,3,1\n"
    )
    choice = ts.choose(problem, capacity=11)
    assert choice.outcome == "optimal" and choice.value == choice.bound
    assert sorted(choice.offsets) == ["a", "b", "c"] and list(choice.fallbacks) == ["d"]
    assert choice.left_out == [] and not choice.stopped and "value" in str(choice)
    with pytest.raises(ts.Infeasible):
        ts.choose(problem, capacity=1)
    with pytest.raises(ts.BadInput, match="capacity"):
        ts.choose(problem)


def test_options_of_plans(npu, mobilenet):
    fast = {"budget": 2000, "max_operators": 2}
    plan = ts.plan(mobilenet, npu, minimize="energy", sensitivity=True, lowering=True, **fast)
    assert any("sensitivity" in note for note in plan.notes)
    assert '"lowering"' in plan.render("json")
    shared = ts.plan(mobilenet, npu, off_chip="tile-aware", **fast)
    whole = ts.plan(mobilenet, npu, **fast)
    assert shared.totals["off_chip_peak"] <= whole.totals["off_chip_peak"]
    with pytest.raises(ts.BadInput, match="off_chip"):
        ts.plan(mobilenet, npu, off_chip="both")
    slow = npu.with_({"memories.dram.port.read_bytes_per_cycle": 2})
    assert ts.evaluate(whole, profile=slow, move=True).totals["latency"] > whole.totals["latency"]
    with pytest.raises(ts.BadInput):
        ts.evaluate(whole, costs="operator,cycles\n")
    small = mobilenet.with_sizes("tensor,bytes\nclassifier.weights,1000\n")
    assert ts.plan(small, npu, **fast).totals["off_chip_bytes"] < whole.totals["off_chip_bytes"]
