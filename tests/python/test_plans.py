# SPDX-License-Identifier: Apache-2.0
"""Plans: what they hold, and the options that shape them."""

import pytest

import tessera as ts


def test_a_plan_shows_what_it_holds(plan):
    assert plan.outcome in ("optimal", "feasible") and not plan.stopped
    assert plan.bound <= plan.score == plan.totals["latency"]
    first = plan.subgraphs[0]
    assert first.operators[0] == "a" and first.peak_bytes <= 1 << 20
    assert sum(row.latency_cycles for row in plan.subgraphs) == plan.totals["latency"]
    assert all(buffer.offset >= 0 and buffer.size > 0 and buffer.steps for buffer in plan.buffers)


def test_tables_are_frames_of_pandas(plan):
    subgraphs = plan.subgraphs.to_pandas()
    assert list(subgraphs.columns) == list(plan.subgraphs.columns)
    assert subgraphs["latency_cycles"].sum() == plan.score
    totals = plan.totals.to_pandas()
    assert totals.loc["latency", "unit"] == "cycles"
    assert (totals["lower_bound"] <= totals["value"]).all()


def test_tables_are_sequences(plan):
    buffers = plan.buffers
    assert list(buffers[:2]) == [buffers[0], buffers[1]]
    assert buffers[:0] == buffers[len(buffers):]
    assert set(plan.totals) == set(dict(plan.totals))


def test_notebooks_show_plans(plan):
    page = plan._repr_html_()
    assert "<svg" in page and "latency" in page
    assert plan.subgraphs._repr_html_().count("<tr>") == len(plan.subgraphs) + 1


def test_cells_are_escaped():
    kind = ts.Total
    table = ts.Table(kind, [kind("<script>", "a&b", 1.5, 0)])
    assert "&lt;script&gt;" in table._repr_html_() and "a&amp;b" in table._repr_html_()


@pytest.mark.parametrize("suffix", ["json", "html", "svg", "h", "txt"])
def test_plans_are_saved_by_suffix(plan, tmp_path, suffix):
    path = tmp_path / f"plan.{suffix}"
    plan.save(path)
    assert path.read_text() == plan.render(suffix)


def test_saved_plans_are_read_again(plan, tmp_path):
    plan.save(tmp_path / "plan.json")
    again = ts.Plan.load(tmp_path / "plan.json")
    assert again.render("json") == plan.render("json")
    assert again.check().accepted
    assert again.execute().operators > 0


def test_profiles_change_in_some_places(chain, npu):
    small = npu.with_({"memories.sram.capacity_bytes": 32768, "/clock_hz": 5e8})
    assert small.to_dict()["memories"]["sram"]["capacity_bytes"] == 32768
    assert small.to_dict()["clock_hz"] == 5e8
    assert npu.to_dict()["memories"]["sram"]["capacity_bytes"] == 1 << 20
    assert ts.plan(chain, small).totals["peak"] <= 32768


def test_objectives_are_a_metric_or_weights(chain, npu):
    by_energy = ts.plan(chain, npu, minimize="energy")
    assert by_energy.score == by_energy.totals["energy"]
    mean = ts.plan(chain, npu, minimize={"latency": 1, "energy": 2}, limits={"peak": 65536})
    assert mean.totals["peak"] <= 65536 and mean.score >= 1


def test_constraints_hold(chain, npu):
    together = ts.plan(chain, npu, constraints="schema: 1\ntogether: [[a, b]]\n")
    assert [row.operators for row in together.subgraphs] == [("a", "b")]
    alone = ts.plan(chain, npu, max_operators=1, previous=together)
    assert len(alone.subgraphs) == 2


def test_edited_plans_are_priced_again(plan):
    assert ts.evaluate(plan).render("json") != ""
    assert ts.evaluate(plan).totals == plan.totals
    with pytest.raises(ts.BadInput):
        ts.evaluate("{}")
