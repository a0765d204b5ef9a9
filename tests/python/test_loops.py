# SPDX-License-Identifier: Apache-2.0
"""Evaluators, spaces of networks, and explorations."""

import os
import pickle
from pathlib import Path

import pytest

import tessera as ts

ROOT = Path(__file__).parents[2]
COMMAND = os.path.join(os.environ.get("TESSERA_BUILD", ""), "bin", "tessera")
SPACE = """
schema: 1
name: tiny
family: inverted_residual
resolution: [16, 24]
stem: {channels: 8, stride: 2}
stages:
  - {channels: 8, stride: 1, depth: [1, 2], kernel: [3, 5], expansion: [2, 3]}
head: {channels: 16, classes: 10}
"""
PROFILE = ts.Profile(ROOT / "hw_profiles" / "edge_npu_64kib.yaml")
OPTIONS = {"max_operators": 1, "budget": 200}


def test_a_space_makes_the_network_of_a_choice():
    space = ts.NetworkSpace.parse(SPACE)
    assert space.parameters["resolution"] == [16, 24]
    assert list(space.parameters) == [
        "resolution",
        "stage1.depth",
        "stage1.block1.kernel",
        "stage1.block1.expansion",
        "stage1.block2.kernel",
        "stage1.block2.expansion",
    ]
    assert space.make({}).operator_count + 4 == space.make({"stage1.depth": 2}).operator_count
    again = pickle.loads(pickle.dumps(space))
    choice = {"resolution": 24, "stage1.block1.kernel": 5}
    assert again.make(choice).to_dict() == space.make(choice).to_dict()
    with pytest.raises(ts.BadInput, match="resoluton"):
        space.make({"resoluton": 16})
    with pytest.raises(ts.BadInput, match="'resolution' is 17"):
        space.make({"resolution": 17})


def test_an_evaluator_answers_as_plans_do():
    space = ts.NetworkSpace.parse(SPACE)
    evaluator = ts.Evaluator([PROFILE], **OPTIONS)
    for choice in ({}, {"stage1.block1.kernel": 5}, {"stage1.depth": 2}, {}):
        network = space.make(choice)
        (found,) = evaluator.evaluate(network)
        plan = ts.plan(network, PROFILE, **OPTIONS)
        assert found.metrics == {name: plan.totals[name] for name in found.metrics}
        assert found and found.searched
    assert evaluator.counts().hits == 1


def test_limits_are_decided_by_bounds_first():
    evaluator = ts.Evaluator([PROFILE, PROFILE], **OPTIONS)
    network = ts.NetworkSpace.parse(SPACE).make({})
    first, second = evaluator.evaluate_at_most(network, [{}, {"latency": 1}])
    assert not first and first.outcome == "unknown"
    assert second.outcome == "infeasible" and not second.searched
    assert second.bounds["latency"] > 1
    assert all(evaluator.evaluate_at_most(network, {"latency": 1e12}))
    with pytest.raises(ts.BadInput, match="speed"):
        evaluator.evaluate_at_most(network, {"speed": 1})
    with pytest.raises(TypeError):
        pickle.dumps(evaluator)


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "space.yaml"
    path.write_text(
        f"schema: 1\nnetworks: [{ROOT}/examples/networks/patent_chain.yaml]\n"
        f"profile: {ROOT}/hw_profiles/edge_npu_64kib.yaml\n"
        "vary:\n  memories.sram.capacity_bytes: {name: sram, values: [1Ki, 4Ki, 8Ki]}\n"
        "minimize: [latency, sram]\noptions: {max_operators: 2, budget: 500}\n"
    )
    return path


def test_an_exploration_is_that_of_the_command(spec, tmp_path):
    found = ts.explore(spec, store=tmp_path / "a.db")
    assert found.document["format"] == "tessera-exploration" and not found.failed
    assert found.fronts["patent_chain"]
    assert ts.explore(spec).document == found.document
    spec.write_text("schema: 2\n")
    with pytest.raises(ts.BadInput, match="space.yaml:1"):
        ts.explore(spec)


def test_dask_workers_make_the_same_exploration(spec):
    import distributed

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster, distributed.Client(cluster) as client:
        lines = []
        found = ts.explore(
            spec, client=client, pieces=3, command=COMMAND, progress=lines.append
        )
        exhaustive = ts.explore(spec, client=client, pieces=2, command=COMMAND, exhaustive=True)
        for name, value in {
            "relax": True,
            "least": "memories.sram.capacity_bytes",
            "adaptive": 0.5,
            "timeout": 9.0,
            "memory_limit": 1 << 30,
            "canceller": ts.Canceller(),
        }.items():
            with pytest.raises(ValueError, match=name):
                ts.explore(spec, client=client, command=COMMAND, **{name: value})
    assert found.document == ts.explore(spec).document
    assert [f"piece {index} of 3 is done" in lines for index in (1, 2, 3)] == [True] * 3
    assert exhaustive.document == ts.explore(spec, exhaustive=True).document
