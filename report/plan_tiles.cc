// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "tessera/base/text.h"
#include "tessera/graph/import/yaml/measured_costs.h"
#include "tessera/plan/verify/tile_table.h"
#include "tessera/report/plan_text.h"

namespace tessera::report {
namespace {

// Returns a text as exactly one cell, whatever the name contains.
std::string Cell(const std::string& text) {
  if (text.find_first_of(",\" \t") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

std::string TilesAsCsv(const plan::Plan& plan) {
  std::string csv = "operator,tile,engine,cycles,pj,signature,tiles,source\n";
  for (const plan::verify::TileRow& row : plan::verify::TileTableOf(plan)) {
    const graph::Operator& op = plan.network.operators[static_cast<size_t>(row.op)];
    const std::string signature = graph::import::yaml::SignatureOf(plan.network, op);
    // The text must read back, so a name with escapes is left out.
    const bool is_printable = base::Printable(op.id) == op.id;
    csv += fmt::format("{},{},{},{},{},{},{},{}\n", is_printable ? Cell(op.id) : signature,
                       fmt::join(row.tile, "x"), Cell(row.engine), row.cycles, row.pj, signature,
                       row.count, row.measured ? "measured" : "model");
  }
  return csv;
}

}  // namespace tessera::report
