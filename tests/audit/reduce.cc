// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>
#include <type_traits>
#include <variant>
#include <vector>

#include "cases.h"
#include "draw_profile.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"

// A greedy reduction. Each round tries each simplification, and keeps it where the question still
// shows the fault. Rounds continue until one changes nothing. A question that a reader refuses
// counts as not showing the fault.
namespace tessera::audit {
namespace {

using graph::Graph;
using graph::Operator;
using graph::Tensor;
using hw_profiles::Profile;

using Change = std::function<void(PlanRequest&)>;

// Keeps only these operators. A tensor that they read and none of them makes becomes an input; a
// tensor that they make and none reads becomes an output.
void KeepOperators(Graph& network, const std::vector<char>& stays) {
  std::vector<Operator> operators;
  for (size_t i = 0; i < stays.size(); ++i) {
    if (stays[i] != 0) operators.push_back(network.operators[i]);
  }
  network.operators = std::move(operators);
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  std::vector<int> numbers;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < usages.size(); ++i) {
    const bool is_used = usages[i].producer >= 0 || !usages[i].consumers.empty();
    numbers.push_back(is_used ? static_cast<int>(tensors.size()) : -1);
    if (!is_used) continue;
    Tensor tensor = network.tensors[i];
    tensor.network_input = usages[i].producer < 0 && !tensor.constant && !tensor.state;
    tensor.network_output =
        usages[i].producer >= 0 && (tensor.network_output || usages[i].consumers.empty());
    tensors.push_back(std::move(tensor));
  }
  network.tensors = std::move(tensors);
  for (Tensor& tensor : network.tensors) {
    if (tensor.next_of >= 0) tensor.next_of = numbers[static_cast<size_t>(tensor.next_of)];
  }
  for (Operator& op : network.operators) {
    for (std::vector<int>* list : {&op.inputs, &op.weights, &op.outputs}) {
      for (int& tensor : *list) tensor = numbers[static_cast<size_t>(tensor)];
    }
  }
}

void AddNetworkChanges(const PlanRequest& question, std::vector<Change>& changes) {
  const size_t operators = question.network.operators.size();
  for (size_t length = operators / 2; length >= 1; length /= 2) {
    for (size_t first = 0; first + length <= operators && operators > 1; ++first) {
      changes.push_back([first, length](PlanRequest& q) {
        std::vector<char> stays(q.network.operators.size(), 1);
        for (size_t i = first; i < std::min(first + length, stays.size()); ++i) stays[i] = 0;
        KeepOperators(q.network, stays);
      });
    }
  }
  for (size_t i = 0; i < question.network.tensors.size(); ++i) {
    changes.push_back([i](PlanRequest& q) {
      Tensor& tensor = q.network.tensors.at(i);
      tensor.type = base::DataType::kInt8;
      tensor.stored_bytes = 0;
    });
    changes.push_back([i](PlanRequest& q) {
      Tensor& tensor = q.network.tensors.at(i);
      if (tensor.state) tensor.network_input = true;
      tensor.state = false;
      for (Tensor& next : q.network.tensors) {
        if (next.next_of == static_cast<int>(i)) next.next_of = -1;
      }
    });
    changes.push_back([i](PlanRequest& q) {
      if (!graph::UsagesOf(q.network).at(i).consumers.empty())
        q.network.tensors.at(i).network_output = false;
    });
  }
  for (size_t i = 0; i < operators; ++i) {
    changes.push_back([i](PlanRequest& q) { q.network.operators.at(i).scratch_bytes = 0; });
    changes.push_back([i](PlanRequest& q) { q.network.operators.at(i).macs = 0; });
    changes.push_back([i](PlanRequest& q) { q.network.operators.at(i).measured.clear(); });
    changes.push_back([i](PlanRequest& q) {
      std::vector<int>& weights = q.network.operators.at(i).weights;
      if (weights.size() > 1) weights.resize(1);
      KeepOperators(q.network, std::vector<char>(q.network.operators.size(), 1));
    });
  }
}

template <typename List>
void AddRemovals(const PlanRequest& question, List Profile::*list, std::vector<Change>& changes) {
  for (size_t i = 0; i < (question.profile.*list).size(); ++i) {
    changes.push_back([list, i](PlanRequest& q) {
      auto& items = q.profile.*list;
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
}

template <typename List>
void AddTilingRemovals(const PlanRequest& question, List hw_profiles::Tiling::*list,
                       std::vector<Change>& changes) {
  for (size_t i = 0; i < (question.profile.tiling.*list).size(); ++i) {
    changes.push_back([list, i](PlanRequest& q) {
      auto& items = q.profile.tiling.*list;
      if (i < items.size()) items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    });
  }
}

// Each field of a section back to its default.
template <typename Section, size_t count, typename SectionOf>
void AddDefaults(const std::array<hw_profiles::Field<Section>, count>& fields, SectionOf section_of,
                 std::vector<Change>& changes) {
  for (const hw_profiles::Field<Section>& field : fields) {
    changes.push_back([&field, section_of](PlanRequest& q) {
      Section& section = section_of(q.profile);
      static const Section kDefaults;
      const auto reset = [&](auto member) {
        if constexpr (!std::is_same_v<decltype(member), std::monostate>)
          section.*member = kDefaults.*member;
      };
      std::visit(reset, field.member);
    });
  }
}

void AddMemoryChanges(size_t i, std::vector<Change>& changes) {
  const auto add = [&changes, i](void (*change)(hw_profiles::Memory&)) {
    changes.push_back([change, i](PlanRequest& q) { change(q.profile.memories.at(i)); });
  };
  add([](hw_profiles::Memory& m) { m.modes.clear(), m.transitions.reset(); });
  add([](hw_profiles::Memory& m) { m.transitions.reset(); });
  add([](hw_profiles::Memory& m) {
    m.banks.clear(), m.modes.clear(), m.transitions.reset(), m.span = problem::Span::kAny;
  });
  add([](hw_profiles::Memory& m) {
    for (problem::Bank& bank : m.banks) bank.ports = {};
  });
  add([](hw_profiles::Memory& m) { m.reserved.clear(); });
  add([](hw_profiles::Memory& m) { m.alignment_bytes = 1; });
  add([](hw_profiles::Memory& m) { m.direct_write = false; });
  add([](hw_profiles::Memory& m) { m.direct_read = false; });
  add([](hw_profiles::Memory& m) { m.capacity_bytes = 1 << 24; });
  add([](hw_profiles::Memory& m) { m.leakage_mw = 0, m.area_mm2 = {}; });
  add([](hw_profiles::Memory& m) { m.port = {}; });
  AddDefaults(
      hw_profiles::kPortFields, [i](Profile & p) -> auto& { return p.memories.at(i).port; },
      changes);
  add([](hw_profiles::Memory& m) {
    m.port.read_bytes_per_cycle = m.port.write_bytes_per_cycle = 1;
  });
  add([](hw_profiles::Memory& m) { m.read_pj_per_byte = m.write_pj_per_byte = 1; });
  add([](hw_profiles::Memory& m) { m.read_pj_per_byte = m.write_pj_per_byte = 0; });
}

void AddProfileChanges(const PlanRequest& question, std::vector<Change>& changes) {
  AddRemovals(question, &Profile::rules, changes);
  AddRemovals(question, &Profile::scratch, changes);
  for (size_t i = 0; i < question.profile.memories.size(); ++i) AddMemoryChanges(i, changes);
  changes.push_back([](PlanRequest& q) {
    if (q.profile.engines.size() > 1) q.profile.engines.erase(q.profile.engines.begin());
  });
  for (size_t i = 0; i < question.profile.engines.size(); ++i) {
    AddDefaults(
        hw_profiles::kEngineFields, [i](Profile & p) -> auto& { return p.engines.at(i); }, changes);
    for (size_t j = 0; j < question.profile.engines[i].throughputs.size(); ++j) {
      changes.push_back([i, j](PlanRequest& q) {
        hw_profiles::Throughput& throughput = q.profile.engines.at(i).throughputs.at(j);
        hw_profiles::Throughput plain;
        plain.kind = throughput.kind;
        if (!base::TraitsOf(plain.kind).multiplies) plain.cycles_per_output = 1;
        throughput = plain;
      });
    }
  }
  for (size_t i = 0; i < question.profile.links.size(); ++i) {
    AddDefaults(
        hw_profiles::kLinkFields, [i](Profile & p) -> auto& { return p.links.at(i); }, changes);
  }
  for (size_t i = 0; i < question.profile.roles.size(); ++i) {
    AddDefaults(
        hw_profiles::kRoleFields, [i](Profile & p) -> auto& { return p.roles.at(i); }, changes);
    changes.push_back([i](PlanRequest& q) { q.profile.roles.at(i).next_homes.clear(); });
    changes.push_back([i](PlanRequest& q) {
      q.profile.roles.at(i).home = q.profile.tile_memory == 0 ? 1 : 0;
      q.profile.roles.at(i).next_homes.clear();
    });
  }
  AddTilingRemovals(question, &hw_profiles::Tiling::axes, changes);
  AddTilingRemovals(question, &hw_profiles::Tiling::halo, changes);
  AddTilingRemovals(question, &hw_profiles::Tiling::weights, changes);
  AddTilingRemovals(question, &hw_profiles::Tiling::in_place, changes);
  for (size_t i = 0; i < question.profile.tiling.axes.size(); ++i) {
    changes.push_back([i](PlanRequest& q) { q.profile.tiling.axes.at(i).granularity = 1; });
    changes.push_back([i](PlanRequest& q) { q.profile.tiling.axes.at(i).later = false; });
  }
  changes.push_back([](PlanRequest& q) { q.profile.tiling.may_serialize = false; });
  changes.push_back([](PlanRequest& q) {
    q.profile.tiling.dma = hw_profiles::DmaSteps::kSerialized;
    q.profile.tiling.may_serialize = false;
  });
  changes.push_back([](PlanRequest& q) { q.profile.tiling.implicit_padding = true; });
  changes.push_back([](PlanRequest& q) { q.profile.tiling.weight_granularity_channels = 1; });
  changes.push_back([](PlanRequest& q) { q.profile.tiling.k_granularity = 1; });
  changes.push_back([](PlanRequest& q) { q.profile.table_bytes_per_channel = 0; });
}

void AddObjectiveChanges(const PlanRequest& question, std::vector<Change>& changes) {
  for (const auto& [metric, limit] : question.objective.limits)
    changes.push_back([metric = metric](PlanRequest& q) { q.objective.limits.erase(metric); });
  for (const auto& [metric, weight] : question.objective.weights) {
    changes.push_back([metric = metric](PlanRequest& q) { q.objective.weights = {{metric, 1}}; });
  }
}

// The changed question as readers return it; nullopt where it is not valid or the same as before.
std::optional<PlanRequest> Apply(const PlanRequest& question, const Change& change) {
  try {
    PlanRequest changed = question;
    change(changed);
    const auto network = graph::import::yaml::ReadNetwork(
        graph::import::yaml::WriteNetworkJson(changed.network), "reduced.json");
    if (!network) return std::nullopt;
    changed.network = *network;
    changed.profile = AsRead(changed.profile);
    const bool same = changed.network == question.network &&
                      changed.objective.limits == question.objective.limits &&
                      changed.objective.weights == question.objective.weights &&
                      hw_profiles::WriteProfileJson(changed.profile) ==
                          hw_profiles::WriteProfileJson(question.profile);
    if (same) return std::nullopt;
    return changed;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

PlanRequest Reduce(const PlanRequest& question,
                   const std::function<bool(const PlanRequest&)>& shows, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  PlanRequest best = question;
  for (bool gained = true; gained;) {
    gained = false;
    std::vector<Change> changes;
    AddObjectiveChanges(best, changes);
    AddNetworkChanges(best, changes);
    AddProfileChanges(best, changes);
    for (const Change& change : changes) {
      if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds)
        return best;
      const std::optional<PlanRequest> changed = Apply(best, change);
      if (!changed || !shows(*changed)) continue;
      best = *changed;
      gained = true;
    }
  }
  return best;
}

}  // namespace tessera::audit
