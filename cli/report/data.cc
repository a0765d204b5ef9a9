#include "tessera/graph/region.h"
#include "tessera/cli/report/data.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "tessera/plan/names.h"

namespace tessera::cli::report {
namespace {

using Json = nlohmann::ordered_json;

Json AsData(const plan::Metrics& metrics) {
  Json data;
  data["latency"] = metrics.latency_cycles;
  data["energy"] = metrics.energy_pj;
  data["off_chip_bytes"] = metrics.off_chip_bytes;
  data["peak"] = metrics.peak_bytes;
  data["energy_by_part"] = metrics.energy_by_part;
  data["off_chip_by_cause"] = metrics.off_chip_by_cause;
  data["macs"] = metrics.macs;
  data["recomputed_macs"] = metrics.recomputed_macs;
  data["unknown_work"] = metrics.unknown_work;
  data["peak_bytes_per_cycle"] = metrics.peak_bytes_per_cycle;
  data["bound_by"] = metrics.bound_by;
  return data;
}

Json AsData(const graph::Graph& network, const graph::Operator& op) {
  Json data;
  data["id"] = op.id;
  data["kind"] = NameOf(op.kind);
  data["inputs"] = op.inputs;
  data["weights"] = op.weights;
  data["outputs"] = op.outputs;
  if (!graph::HasUnknownWork(op)) data["macs"] = graph::MacsOf(network, op);
  return data;
}

std::string_view RoleOf(const graph::Tensor& tensor) {
  if (tensor.constant) return "constant";
  if (tensor.state) return "state";
  if (tensor.network_input) return "network input";
  if (tensor.next_of >= 0) return "next value of a state";
  return tensor.network_output ? "network output" : "feature";
}

Json AsData(const graph::Tensor& tensor) {
  Json data;
  data["id"] = tensor.id;
  data["shape"] = tensor.shape;
  data["type"] = NameOf(tensor.type);
  data["role"] = RoleOf(tensor);
  data["bytes"] = base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape));
  return data;
}

Json AsData(const plan::Rejection& rejection) {
  Json data;
  data["last"] = rejection.interval.last;
  data["tile"] = rejection.tile;
  data["weights"] = NameOf(rejection.weights);
  data["halo"] = NameOf(rejection.halo);
  if (rejection.depth > 0) data["depth"] = rejection.depth;
  data["cause"] = WordFor(rejection.cause, plan::kRejectionCauseNames);
  if (rejection.score) data["score"] = *rejection.score;
  data["taken"] = rejection.taken;
  data["needs_bytes"] = rejection.needs_bytes;
  return data;
}

Json AsData(const plan::Subgraph& subgraph) {
  Json data;
  data["first"] = subgraph.interval.first;
  data["last"] = subgraph.interval.last;
  data["tile"] = subgraph.tile;
  data["tiles"] = subgraph.tiles;
  data["weights"] = NameOf(subgraph.weights);
  if (subgraph.depth > 0) data["depth"] = subgraph.depth;
  data["in_place"] = subgraph.in_place;
  data["halo"] = NameOf(subgraph.halo);
  if (subgraph.prefetch) data["prefetch"] = true;
  data["largest_proven"] = subgraph.largest_proven;
  data["metrics"] = AsData(subgraph.metrics);
  data["rejected"] = Json::array();
  for (const plan::Rejection& rejection : subgraph.rejected) data["rejected"].push_back(AsData(rejection));
  return data;
}

}  // namespace

Json DataOf(const plan::Plan& plan) {
  Json data;
  data["network"] = plan.network.name;
  data["profile"] = plan.profile.name;
  data["clock_hz"] = plan.profile.clock_hz;
  data["version"] = plan.version;
  data["seed"] = plan.seed;
  data["status"] = plan.status;
  data["score"] = plan.score;
  data["objective"] = {{"weights", plan.objective.weights}, {"limits", plan.objective.limits}};
  data["demands"] = Json::array();
  for (const plan::Demand& demand : plan.demands)
    data["demands"].push_back(plan::Describe(plan.network, demand));
  data["notes"] = plan.notes;
  for (const std::string& sentence : plan::DescribeProof(plan)) data["notes"].push_back("proof: " + sentence);
  data["kept"] = plan.kept;
  data["totals"] = AsData(plan.totals);
  data["lower_bounds"] = AsData(plan.lower_bounds);
  data["baseline"] = {{"complete", plan.baseline.complete},
                      {"do_not_fit", plan.baseline.do_not_fit},
                      {"totals", AsData(plan.baseline.totals)}};
  for (const char* list : {"operators", "tensors", "subgraphs"}) data[list] = Json::array();
  for (const graph::Operator& op : plan.network.operators)
    data["operators"].push_back(AsData(plan.network, op));
  for (const graph::Tensor& tensor : plan.network.tensors) data["tensors"].push_back(AsData(tensor));
  for (const plan::Subgraph& subgraph : plan.subgraphs) data["subgraphs"].push_back(AsData(subgraph));
  AddMemory(plan, data);
  AddTimelines(plan, data);
  return data;
}

}  // namespace tessera::cli::report
