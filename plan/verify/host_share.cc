// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/host_share.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/plan/index_box.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/work_count.h"

namespace tessera::plan::verify {
namespace {

// "no other engine lists softmax of int8"
std::string ReasonFor(const Plan& plan, const graph::Operator& op) {
  if (!op.engine.empty()) return "its network names the host";
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const base::DataType type = plan.network.tensors[static_cast<size_t>(typical)].type;
  const auto imported = op.annotations.find("x-op_type");
  const bool names_type = graph::IsBarrier(op) && imported != op.annotations.end();
  return fmt::format("no other engine lists {} of {}{}", base::NameOf(op.kind), base::NameOf(type),
                     names_type ? " (" + imported->second + ")" : "");
}

}  // namespace

double HostShare::Percent() const {
  return all_macs == 0 ? 0 : 100.0 * static_cast<double>(macs) / static_cast<double>(all_macs);
}

HostShare HostShareOf(const Plan& plan) {
  const graph::Graph& network = plan.network;
  HostShare share;
  for (size_t i = 0; i < network.operators.size(); ++i) {
    const graph::Operator& op = network.operators[i];
    const int64_t macs = MacsFor(network, op, WholeOf(graph::ShapeOf(network, op.outputs.front())));
    share.all_macs = Plus(share.all_macs, macs);
    if (!IsOnHost(plan, op)) continue;
    share.macs = Plus(share.macs, macs);
    share.operators.push_back({static_cast<int>(i), ReasonFor(plan, op)});
  }
  return share;
}

std::optional<std::string> NoteOnHost(const Plan& plan) {
  const HostShare share = HostShareOf(plan);
  if (share.operators.empty()) return std::nullopt;
  std::string note =
      fmt::format("on the host: {} of {} operators, {:.2f} % of the known MACs",
                  share.operators.size(), plan.network.operators.size(), share.Percent());
  for (const HostedOperator& hosted : share.operators) {
    note += fmt::format("; '{}': {}", plan.network.operators[static_cast<size_t>(hosted.op)].id,
                        hosted.reason);
  }
  return note;
}

}  // namespace tessera::plan::verify
