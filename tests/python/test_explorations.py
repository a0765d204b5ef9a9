# SPDX-License-Identifier: Apache-2.0
"""Searches over hardware."""

import json

import pytest

import tessera as ts
from conftest import ROOT

SPECIFICATION = {
    "schema": 1,
    "networks": [str(ROOT / "examples/networks/patent_chain.yaml")],
    "profile": str(ROOT / "hw_profiles/edge_npu_64kib.yaml"),
    "vary": {"memories.sram.capacity_bytes": {"name": "sram", "values": [2048, 4096, 8192]}},
    "minimize": ["latency", "sram"],
    "options": {"budget": 20000},
}


def test_an_exploration_has_fronts_and_rows(tmp_path):
    found = ts.explore(SPECIFICATION, store=tmp_path / "a.db")
    front = found.fronts["patent_chain"]
    assert front and all(len(entry["values"]) == 2 for entry in front)
    planned = [row for row in found.rows if row["outcome"] in ("optimal", "feasible")]
    assert {int(row["point"]) for row in planned} >= {entry["point"] for entry in front}
    assert "front of patent_chain" in str(found)
    found.save(tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text()) == found.document
    found.save(tmp_path / "a.html")
    with pytest.raises(ValueError):
        found.save(tmp_path / "a.txt")
    path = tmp_path / "space.yaml"
    path.write_text(json.dumps(SPECIFICATION))
    assert ts.explore(path, store=tmp_path / "a.db").document == found.document


def test_rows_are_a_frame(tmp_path):
    import pandas

    frame = ts.explore(SPECIFICATION, marginal=True).to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert set(frame["sram"]) == {2048, 4096, 8192}


def test_other_questions(tmp_path):
    least = ts.explore(SPECIFICATION, least="memories.sram.capacity_bytes")
    assert least.document["format"] == "tessera-least"
    assert least.fronts == {}
    with pytest.raises(ValueError):
        least.save(tmp_path / "a.csv")
    with pytest.raises(ts.BadInput):
        ts.explore(SPECIFICATION, relax=True, least="clock_hz")
    with pytest.raises(ts.BadInput) as error:
        ts.explore({**SPECIFICATION, "minimize": ["latensy"]})
    assert "latency" in str(error.value)


def test_a_cancelled_call_says_so():
    canceller = ts.Canceller()
    canceller.cancel()
    with pytest.raises(ts.Stopped):
        ts.explore(SPECIFICATION, canceller=canceller)
