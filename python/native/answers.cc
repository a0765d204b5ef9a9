// SPDX-License-Identifier: Apache-2.0

#include <pybind11/stl.h>

#include "module.h"

namespace tessera::python {

namespace py = pybind11;
using py::literals::operator""_a;

namespace {

py::dict FieldsOfTile(const Tile& tile) {
  return py::dict("shape"_a = tile.shape, "policy"_a = tile.policy,
                  "outcome"_a = NameOf(tile.outcome), "is_corner"_a = tile.is_corner,
                  "is_proven_corner"_a = tile.is_proven_corner, "tiles"_a = tile.tiles,
                  "lower_bound"_a = tile.lower_bound, "peak"_a = tile.peak,
                  "latency_cycles"_a = tile.latency_cycles, "energy_pj"_a = tile.energy_pj,
                  "off_chip_bytes"_a = tile.off_chip_bytes, "reason"_a = tile.reason);
}

}  // namespace

py::dict Fields(const AllocateAnswer& answer) {
  py::list peaks;
  for (const MemoryPeak& each : answer.peaks)
    peaks.append(py::make_tuple(each.memory, each.peak, each.lower_bound));
  return py::dict("outcome"_a = NameOf(answer.outcome), "allocation"_a = answer.allocation,
                  "lower_bound"_a = answer.lower_bound, "cost"_a = answer.cost, "peaks"_a = peaks,
                  "score"_a = answer.score, "score_bound"_a = answer.score_bound,
                  "engine"_a = answer.engine, "reason"_a = answer.reason,
                  "explanation"_a = answer.explanation, "certificate"_a = answer.certificate,
                  "no_certificate"_a = answer.no_certificate, "stopped"_a = answer.stopped);
}

py::dict Fields(const Explanation& explanation) {
  return py::dict("outcome"_a = NameOf(explanation.outcome), "summary"_a = explanation.summary,
                  "conditions"_a = explanation.conditions, "minimal"_a = explanation.minimal,
                  "changes"_a = explanation.changes, "all_tried"_a = explanation.all_tried);
}

py::dict Fields(const CheckReport& report) {
  return py::dict("accepted"_a = report.accepted, "findings"_a = report.findings,
                  "open"_a = report.open);
}

py::dict Fields(const PlanAnswer& answer) {
  return py::dict("outcome"_a = NameOf(answer.outcome), "plan"_a = answer.plan,
                  "reason"_a = answer.reason, "causes"_a = answer.causes,
                  "explanation"_a = answer.explanation, "remedies"_a = answer.remedies,
                  "certificate"_a = answer.certificate, "stopped"_a = answer.stopped);
}

py::dict Fields(const EvaluateAnswer& answer) {
  return py::dict("outcome"_a = NameOf(answer.outcome), "plan"_a = answer.plan,
                  "findings"_a = answer.findings, "reason"_a = answer.reason,
                  "explanation"_a = answer.explanation, "stopped"_a = answer.stopped);
}

py::dict Fields(const ExecuteReport& report) {
  py::dict fields = Fields(static_cast<const CheckReport&>(report));
  fields["tiles"] = report.tiles;
  fields["steps"] = report.steps;
  fields["operators"] = report.operators;
  fields["transfers"] = report.transfers;
  fields["bytes_moved"] = report.bytes_moved;
  fields["cells_checked"] = report.cells_checked;
  return fields;
}

py::dict Fields(const CertificateReport& report) {
  py::dict fields = Fields(static_cast<const CheckReport&>(report));
  fields["claim"] = report.claim;
  return fields;
}

py::dict Fields(const TileAnswer& answer) {
  py::list tiles;
  for (const Tile& tile : answer.tiles) tiles.append(FieldsOfTile(tile));
  return py::dict("outcome"_a = NameOf(answer.outcome), "tiles"_a = tiles,
                  "largest"_a = answer.largest, "largest_is_proven"_a = answer.largest_is_proven,
                  "explanation"_a = answer.explanation, "text"_a = answer.text,
                  "json"_a = answer.json, "stopped"_a = answer.stopped);
}

py::dict Fields(const ModesAnswer& answer) {
  py::list memories;
  for (const MemoryModes& memory : answer.memories) {
    memories.append(py::dict("memory"_a = memory.memory, "keep"_a = memory.keep,
                             "remove"_a = memory.remove, "frees"_a = memory.frees));
  }
  return py::dict("outcome"_a = NameOf(answer.outcome), "memories"_a = memories,
                  "reduced"_a = answer.reduced, "text"_a = answer.text, "json"_a = answer.json,
                  "stopped"_a = answer.stopped);
}

py::dict Fields(const SessionCounts& counts) {
  return py::dict("hits"_a = counts.hits, "misses"_a = counts.misses, "dropped"_a = counts.dropped,
                  "bytes"_a = counts.bytes, "known"_a = counts.known, "asked"_a = counts.asked);
}

}  // namespace tessera::python
