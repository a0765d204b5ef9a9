// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/refutation.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <new>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/partition_paths.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/problem/well_formed.h"

namespace tessera::plan::verify::infeasibility {

bool Placements::AreImpossible(const problem::Problem& problem, problem::Bytes capacity) {
  if (LeastLoad(problem) > FreeBytes(problem.memories.front(), capacity)) return true;
  const bool is_open =
      std::all_of(problem.buffers.begin(), problem.buffers.end(), [&](const auto& buffer) {
        return !buffer.offset || (*buffer.offset % problem::AlignmentOf(problem, buffer) == 0 &&
                                  *buffer.offset <= capacity - buffer.size);
      });
  if (!is_open) return true;
  const auto [known, is_new] = known_.try_emplace(problem::files::WriteProblem(problem), false);
  if (!is_new || AreSpent() || problem::CheckWellFormed(problem)) return known->second;
  ++asked_;
  std::optional<std::string> text = find_proof_(problem, capacity);
  if (!text || !problem::proof::CheckProof(problem, capacity, *text).accepted) return false;
  proofs_.push_back({problem, capacity, *std::move(text)});
  return known->second = true;
}

namespace {

class Listing {
 public:
  Listing(const graph::Graph& network, size_t most)
      : most_(most), needs_(network.operators.size()) {
    std::vector<int> maker(network.tensors.size(), -1);
    for (size_t i = 0; i < network.operators.size(); ++i) {
      for (const int output : network.operators[i].outputs) {
        if (!network.tensors[static_cast<size_t>(output)].state)
          maker[static_cast<size_t>(output)] = static_cast<int>(i);
      }
    }
    for (size_t i = 0; i < network.operators.size(); ++i) {
      for (const int input : network.operators[i].inputs) {
        if (const int other = maker[static_cast<size_t>(input)]; other >= 0)
          needs_[i].push_back(other);
      }
    }
  }

  std::optional<std::vector<std::vector<int>>> Run() {
    done_.assign(needs_.size(), 0);
    Extend();
    if (orders_.size() > most_) return std::nullopt;
    return std::move(orders_);
  }

 private:
  bool IsReady(size_t op) const {
    return done_[op] == 0 && std::all_of(needs_[op].begin(), needs_[op].end(), [this](int other) {
             return done_[static_cast<size_t>(other)] != 0;
           });
  }

  void Extend() {
    if (orders_.size() > most_) return;
    if (order_.size() == needs_.size()) {
      orders_.push_back(order_);
      return;
    }
    for (size_t op = 0; op < needs_.size(); ++op) {
      if (!IsReady(op)) continue;
      done_[op] = 1;
      order_.push_back(static_cast<int>(op));
      Extend();
      order_.pop_back();
      done_[op] = 0;
    }
  }

  const size_t most_;
  std::vector<std::vector<int>> needs_;  // by operator
  std::vector<char> done_;
  std::vector<int> order_;
  std::vector<std::vector<int>> orders_;
};

}  // namespace

std::optional<std::vector<std::vector<int>>> OrdersOf(const graph::Graph& network, size_t most) {
  return Listing(network, most).Run();
}

// A plan is an order of the operators, a path through its cuts, and for each interval on that path
// a tile, policies, and the tensors that are kept around it. So there is no plan if some argument
// excludes every plan (FindImpossible), or if no order has a path (partition_paths.h).
namespace {

using problem::Bytes;

constexpr size_t kMostOrders = 1'000;

// The part of the tile memory that the limit of the peak allows.
Bytes RoomOf(const Plan& question) {
  const Bytes capacity = TileMemory(question.profile).capacity;
  const auto peak = question.objective.limits.find("peak");
  if (peak == question.objective.limits.end() || peak->second >= static_cast<double>(capacity))
    return capacity;
  return std::max<Bytes>(0, static_cast<Bytes>(std::floor(peak->second)));
}

// The bytes of RoomOf that buffers may fill.
Bytes FreeRoomOf(const Plan& question) {
  const problem::Memory memory = TileMemory(question.profile);
  return std::min(RoomOf(question), FreeBytes(memory, memory.capacity));
}

// Prefetching changes when transfers run: cycles, with them the leakage, and every rate. The least
// metrics of all plans hold for every schedule (FindImpossible), those of configurations do not.
Plan WithoutWhatPrefetchingChanges(Plan question) {
  if (question.run.prefetches) {
    std::erase_if(question.objective.limits,
                  [](const auto& limit) { return DependsOnTime(limit.first); });
  }
  return question;
}

std::string ArgumentOf(const Plan& question, size_t orders) {
  std::string argument =
      orders == 1 ? "no" : fmt::format("in each of {} orders of the operators no", orders);
  argument += " sequence of subgraphs leads from the first operator to the last";
  std::string_view separator = " and keeps the limits: ";
  for (const auto& [metric, limit] : question.objective.limits) {
    argument += fmt::format("{}{} at most {}", separator, metric, limit);
    separator = ", ";
  }
  return argument;
}

// Whether a plan can exist for the network at all.
bool IsSound(Plan question) {
  const auto last = static_cast<int>(question.network.operators.size()) - 1;
  if (last < 0 || question.network.operators.back().outputs.empty()) return false;
  const int tiled = question.network.operators.back().outputs.front();
  Subgraph whole;
  whole.interval = {0, last};
  whole.tile = question.network.tensors[static_cast<size_t>(tiled)].shape;
  whole.tiles = 1;
  question.subgraphs = {whole};
  Findings findings(std::numeric_limits<size_t>::max());
  CheckPartition(question, findings);
  const std::vector<Violation> violations = findings.Take();
  return std::none_of(violations.begin(), violations.end(), [](const Violation& violation) {
    return violation.kind == ViolationKind::kNetwork || violation.kind == ViolationKind::kMemory;
  });
}

std::vector<int> OrderOfFile(const graph::Graph& network) {
  std::vector<int> order(network.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

RefutationResult JudgeIn(const Plan& asked, const FindProof& find_proof, const base::Stop& stop,
                         const Effort& effort) {
  Plan question = asked;
  AssignHomes(question);
  Refutation refutation;
  if (auto why = FindOverfullHome(question)) {
    refutation.argument = *std::move(why);
    return {std::move(refutation), {}};
  }
  if (!IsSound(question))
    return {std::nullopt, "the network is beyond what an independent check goes through"};
  const Bytes room = RoomOf(question);
  const std::vector<Users> users = FindUsers(question.network);
  auto why = FindImpossible(question, users, FreeRoomOf(question), room);
  constexpr int64_t kOfOneConfig = 3'200;  // a step of it is much less than a configuration
  const bool has_modes = !TileMemory(question.profile).modes.empty();
  const bool has_other_engines = HasOtherEngines(question);
  if (!why && !(has_modes && has_other_engines)) {
    why = FindNoRoomAround(question, users, room, base::SaturatingMul(effort.work, kOfOneConfig),
                           stop);
  }
  if (why) {
    refutation.argument = *std::move(why);
    return {std::move(refutation), {}};
  }
  question = WithoutWhatPrefetchingChanges(std::move(question));
  if (has_modes && has_other_engines)
    return {std::nullopt, "modes name engines, and several engines may run some operators"};
  std::vector<std::vector<int>> orders = {OrderOfFile(question.network)};
  if (question.run.searches_order) {
    auto all = OrdersOf(question.network, kMostOrders);
    if (!all)
      return {std::nullopt,
              "the operators have more orders than an independent check goes through"};
    orders = *std::move(all);
  }
  Shared shared;
  shared.work = effort.work;
  Placements placements(find_proof, effort.proofs);
  for (const std::vector<int>& order : orders) {
    Passage passage(question, order, room, shared, placements, stop);
    if (!passage.IsBarred()) return {std::nullopt, passage.Gap()};
  }
  refutation.orders = static_cast<int64_t>(orders.size());
  refutation.intervals = static_cast<int64_t>(shared.lower_bounds.size());
  for (const auto& [interval, choices] : shared.choices)
    refutation.configs += choices.configs ? static_cast<int64_t>(choices.configs->size()) : 0;
  refutation.proofs = placements.TakeProofs();
  refutation.argument = ArgumentOf(question, orders.size());
  return {std::move(refutation), {}};
}

}  // namespace

std::string FindQuickArgument(const Plan& asked) {
  try {
    Plan question = asked;
    AssignHomes(question);
    if (auto why = FindOverfullHome(question)) return *std::move(why);
    if (!IsSound(question)) return "";
    return FindImpossible(question, FindUsers(question.network), FreeRoomOf(question),
                          RoomOf(question))
        .value_or("");
  } catch (const std::bad_alloc&) {
    return "";
  }
}

RefutationResult Judge(const Plan& asked, const FindProof& find_proof, const base::Stop& stop,
                       const Effort& effort) {
  try {
    return JudgeIn(asked, find_proof, stop, effort);
  } catch (const std::bad_alloc&) {
    return {std::nullopt, "memory is exhausted"};
  }
}

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kFormat = "tessera-refutation";

// JSON text of another writer as a value.
Json Embed(const std::string& text) {
  const base::Expected<Json> value = base::ParseJson(text, "");
  return value ? *value : Json();
}

}  // namespace

std::string WriteRefutation(const Plan& question, const Refutation& refutation) {
  Json json = Json::object();
  json["format"] = kFormat;
  json["version"] = 1;
  json["argument"] = refutation.argument;
  json["orders"] = refutation.orders;
  json["intervals"] = refutation.intervals;
  json["configurations"] = refutation.configs;
  json["placements"] = refutation.proofs.size();
  json["objective"] = {{"weights", question.objective.weights},
                       {"limits", question.objective.limits}};
  if (!question.constraints.empty()) json["constraints"] = files::ConstraintsToJson(question);
  Json& run = json["run"] = Json::object();
  run["searches_order"] = question.run.searches_order;
  run["keeps_boundaries"] = question.run.keeps_boundaries;
  run["prefetches"] = question.run.prefetches;
  if (question.run.off_chip != OffChip::kWhole)
    run["off_chip"] = WordFor(question.run.off_chip, kOffChipNames);
  json["network"] = Embed(graph::import::yaml::WriteNetworkJson(question.network));
  json["profile"] = Embed(hw_profiles::WriteProfileJson(question.profile));
  return base::WriteJson(json);
}

base::Expected<Document> ReadRefutation(std::string_view text, std::string file) {
  base::JsonReader reader(text, std::move(file));
  Document document;
  Plan& question = document.question;
  {
    base::JsonObject root = reader.Root().Object();
    root.Format(kFormat, 1);
    document.stated.argument = root.String("argument");
    document.stated.orders = root.Integer("orders", {});
    document.stated.intervals = root.Integer("intervals", {});
    document.stated.configs = root.Integer("configurations", {});
    document.placements = root.Integer("placements", {});
    question.network = files::ReadEmbeddedNetwork(root.Required("network"));
    question.profile = files::ReadEmbeddedProfile(root.Required("profile"));
    question.objective = files::ReadObjective(root.Required("objective"));
    const base::JsonValue constraints = root.Optional("constraints");
    if (constraints && !reader.Failed())
      question.constraints = files::ReadConstraints(constraints, question);
    base::JsonObject run = root.Required("run").Object();
    question.run.searches_order = run.Boolean("searches_order", true);
    question.run.keeps_boundaries = run.Boolean("keeps_boundaries", true);
    question.run.prefetches = run.Boolean("prefetches", false);
    question.run.off_chip = static_cast<OffChip>(run.OneOf("off_chip", kOffChipNames, 0));
  }
  return reader.Finish(std::move(document));
}

std::string FindDifference(const Document& document, const Refutation& found) {
  const Refutation& stated = document.stated;
  if (stated.argument != found.argument)
    return fmt::format("it states '{}', and the check finds '{}'", stated.argument, found.argument);
  const std::array<std::tuple<std::string_view, int64_t, int64_t>, 4> counts = {
      {{"orders", stated.orders, found.orders},
       {"intervals", stated.intervals, found.intervals},
       {"configurations", stated.configs, found.configs},
       {"placements", document.placements, static_cast<int64_t>(found.proofs.size())}}};
  for (const auto& [name, its, right] : counts) {
    if (its != right)
      return fmt::format("it states {} {}, and the check finds {}", its, name, right);
  }
  return "";
}

}  // namespace tessera::plan::verify::infeasibility
