# SPDX-License-Identifier: Apache-2.0
"""Networks, profiles, and what is wrong with them."""

import os
import pickle
import shutil

import numpy
import pytest

import tessera as ts

from conftest import CHAIN, ROOT


def test_networks_are_dictionaries(chain):
    document = chain.to_dict()
    assert [op["id"] for op in document["operators"]] == ["a", "b"]
    assert ts.Network.parse(document).to_dict() == document
    assert ts.load_network(document).to_dict() == document
    with pytest.raises(TypeError, match="load_network"):
        ts.Network(document)
    assert chain.operator_count == 2 and chain.name == "chain" and chain.notes == []


def test_measured_tiles_replace_the_model(chain, npu):
    modelled = ts.plan(chain, npu)
    rows = modelled.render("csv").splitlines()
    assert rows[0] == "operator,tile,engine,cycles,pj,signature,tiles,source"
    quick = [rows[0]] + [",".join([*row.split(",")[:3], "1", ",,,"]) for row in rows[1:]]
    measured = chain.with_costs("\n".join(quick))
    assert ts.plan(measured, npu).totals["latency"] < modelled.totals["latency"]
    with pytest.raises(ts.BadInput, match="no such operator") as caught:
        chain.with_costs("operator,tile,engine,cycles\nnone,1,npu,1\n", "mine.csv")
    assert (caught.value.file, caught.value.line) == ("mine.csv", 2)


def test_profiles_are_dictionaries(npu):
    document = npu.to_dict()
    assert ts.Profile.parse(document).to_dict() == document
    assert npu.name == document["name"]


def test_faults_say_where(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("schema: 1\noperatorz: []\n")
    with pytest.raises(ts.BadInput, match="operatorz") as caught:
        ts.load_network(path)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 2, 1)
    assert "operators" in error.hint and isinstance(error, ValueError)
    with pytest.raises(ts.BadInput, match="nothing.yaml"):
        ts.Profile(tmp_path / "nothing.yaml")


@pytest.mark.parametrize(
    "changes",
    [{"memories.sram.capacity_byte": 1}, {"memories.sram.capacity_bytes": -1}, {"colour": "red"}],
)
def test_profiles_refuse_changes(npu, changes):
    with pytest.raises(ts.BadInput):
        npu.with_(changes)


def test_options_are_checked(chain, npu):
    with pytest.raises(ts.BadInput, match="beauty"):
        ts.plan(chain, npu, minimize="beauty")
    with pytest.raises(TypeError, match="timeout"):
        ts.plan(chain, npu, timeout="soon")
    with pytest.raises(ts.BadInput):
        ts.load_network("-", dims={"batch": 0})


def test_everything_is_pickled(chain, npu, plan):
    network, profile, other = pickle.loads(pickle.dumps((chain, npu, plan)))
    assert network.to_dict() == chain.to_dict() and profile.to_dict() == npu.to_dict()
    assert other.render("json") == plan.render("json") and other.totals == plan.totals
    assert ts.plan(network, profile).render("json") == plan.render("json")
    answer = ts.allocate(ts.make_problem(chain, npu, operators="a", tile="8x32"))
    again = pickle.loads(pickle.dumps(answer))
    assert (again.offsets == answer.offsets).all() and again.outcome == answer.outcome
    assert len(again.problem) == len(answer.problem)
    with pytest.raises(TypeError, match="session"):
        pickle.dumps(ts.Session())


def test_reasons_are_pickled(chain, npu):
    tiny = npu.with_({"memories.sram.capacity_bytes": 512})
    with pytest.raises(ts.Infeasible) as caught:
        ts.plan(chain, tiny, explain=True, certify=True)
    assert caught.value.reason and caught.value.remedies
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value) and again.remedies == caught.value.remedies
    assert again.certificate.files == caught.value.certificate.files
    assert again.certificate.check().accepted


def test_networks_of_other_schemas_are_refused():
    with pytest.raises(ts.BadInput, match="schema"):
        ts.Network.parse({**CHAIN, "schema": 99})


def test_numbers_of_numpy_are_numbers(npu):
    small = npu.with_({"memories.sram.capacity_bytes": numpy.int64(65536)})
    assert small.to_dict()["memories"]["sram"]["capacity_bytes"] == 65536


@pytest.mark.parametrize(
    "call, part",
    [
        (lambda npu, net: ts.plan(npu, net), "network must be a tessera.Network, not <Profile"),
        (lambda npu, net: ts.plan("net.yaml", npu), "network must be a tessera.Network"),
        (lambda npu, net: ts.plan(net, npu, previous=3), "previous must be a tessera.Plan"),
        (lambda npu, net: ts.plan(net, npu, minimize=["latency"]), "minimize must be a metric"),
        (lambda npu, net: ts.plan(net, npu, timeout="x"), "timeout cannot be 'x'"),
        (lambda npu, net: ts.allocate([0], [1], [8], capacity="32"), "capacity must be an integer"),
        (lambda npu, net: ts.evaluate(None), "plan must be JSON or a tessera.Plan"),
        (lambda npu, net: ts.Session("x"), "most_bytes must be an integer"),
        (lambda npu, net: ts.load_network({}, floats_as=3), "floats_as must be a text"),
    ],
)
def test_arguments_of_other_types_are_named(npu, chain, call, part):
    with pytest.raises(TypeError, match=part):
        call(npu, chain)


def test_numbers_beyond_64_bits_are_refused(npu, chain):
    with pytest.raises(ts.BadInput, match="capacity"):
        ts.allocate([0], [1], [8], capacity=2**64)
    with pytest.raises(ts.BadInput, match="lower"):
        ts.Problem.from_columns([numpy.uint64(2**64 - 3)], [1], [1])
    with pytest.raises(ts.BadInput, match="minimize"):
        ts.plan(chain, npu, minimize={})


def test_names_of_files_are_bytes(tmp_path, npu, chain, plan):
    folder = tmp_path / os.fsdecode(b"\xff")
    folder.mkdir()
    shutil.copy(ROOT / "hw_profiles/edge_npu_1mib.yaml", folder / "npu.yaml")
    assert ts.Profile(folder / "npu.yaml").name == npu.name
    plan.save(folder / "plan.json")
    assert ts.Plan.load(folder / "plan.json").score == plan.score
    for wrong in (str(tmp_path / "plan.json\0.html"), b"a\0"):
        with pytest.raises(ts.BadInput, match="without a NUL"):
            plan.save(wrong)
    assert not list(tmp_path.glob("plan.*"))


@pytest.mark.parametrize("name", ["missing.yaml", ".", "latin.yaml"])
def test_spaces_that_cannot_be_read_are_named(tmp_path, name):
    (tmp_path / "latin.yaml").write_bytes(b"name: \xe9\n")
    with pytest.raises(ts.BadInput, match=f"cannot read '.*{name}'"):
        ts.NetworkSpace(tmp_path / name)
    with pytest.raises(TypeError):
        ts.NetworkSpace(5)


def test_dictionaries_are_asked_for(chain, npu):
    for call in (
        lambda: ts.plan(chain, npu, limits=[("latency", 1)]),
        lambda: ts.plan(chain, npu, limits={"latency": "x"}),
        lambda: ts.plan(chain, npu, limits={5: 1}),
        lambda: npu.with_([("name", "x")]),
        lambda: npu.with_({5: 1}),
        lambda: ts.Evaluator(npu, minimize=None),
    ):
        with pytest.raises(TypeError, match="must be"):
            call()


@pytest.mark.parametrize("weight", [1e308, 1e-320, float("nan"), -1])
def test_weights_have_a_range(chain, npu, weight):
    with pytest.raises(ts.BadInput, match="from 1e-100 to 1e\\+100"):
        ts.plan(chain, npu, minimize={"latency": weight, "energy": 1})
    assert ts.plan(chain, npu, limits={"latency": 1e300}).score == ts.plan(chain, npu).score


def test_arrays_are_lists_of_numbers(npu):
    capacity = numpy.array([65536, 1])
    changed = npu.with_({"memories.sram.capacity_bytes": capacity[0]})
    assert changed.to_dict()["memories"]["sram"]["capacity_bytes"] == 65536
    shape = numpy.array([1, 16, 32, 32])
    document = {**CHAIN, "inputs": [{"id": "x", "shape": shape}]}
    assert ts.Network.parse(document).to_dict() == ts.Network.parse(CHAIN).to_dict()
