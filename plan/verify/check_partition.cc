// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::verify {
namespace {

// Beyond this limit a plan is refused: checking would not end.
constexpr int64_t kMostTiles = int64_t{1} << 20;

class PartitionCheck {
 public:
  PartitionCheck(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {}

  void Run() {
    CheckProfile();
    CheckNetwork(plan_.network, findings_);
    if (!findings_.Empty()) return;
    CheckAssignment(plan_, findings_);
    CheckCoverage();
    if (!findings_.Empty()) return;
    const std::vector<Users> users = FindUsers(plan_.network);
    CheckKept(users);
    if (!findings_.Empty()) return;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) Check(i, users);
  }

  void Check(size_t i, const std::vector<Users>& users) {
    CheckTile(i, users);
    CheckResidency(i, users);
    if (!plan_.subgraphs[i].prefetch.empty()) CheckPrefetch(i, users);
    if (plan_.subgraphs[i].second_stage != 0) CheckStages(i, users);
  }

 private:
  const graph::Operator& At(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }

  void CheckProfile() {
    const auto memories = static_cast<int>(plan_.profile.memories.size());
    const auto exists = [&](int memory) { return memory >= 0 && memory < memories; };
    const bool homes =
        std::all_of(plan_.profile.roles.begin(), plan_.profile.roles.end(),
                    [&](const hw_profiles::RoleLayout& layout) {
                      return exists(layout.home) && std::all_of(layout.next_homes.begin(),
                                                                layout.next_homes.end(), exists);
                    });
    if (exists(plan_.profile.tile_memory) && homes &&
        plan_.profile.roles.size() == base::TensorRoleNames().size()) {
      return;
    }
    findings_.Note(ViolationKind::kMemory, "the profile names memories that it does not have");
  }

  void CheckCoverage() {
    int next = 0;
    const auto operators = static_cast<int>(plan_.network.operators.size());
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const graph::Interval interval = plan_.subgraphs[i].interval;
      if (interval.first > interval.last || interval.first < 0 || interval.last >= operators) {
        findings_.Note(ViolationKind::kCoverage,
                       fmt::format("subgraph {} holds operators {} to {} of {}", i, interval.first,
                                   interval.last, operators));
        return;
      }
      for (int op = next; op < interval.first; ++op) NoteUncovered(op);
      for (int op = interval.first; op < std::min(next, interval.last + 1); ++op) {
        findings_.Note(
            ViolationKind::kCoverage,
            fmt::format("operator '{}' stands in subgraph {} after it, or one behind it, has run",
                        At(op).id, i));
      }
      next = std::max(next, interval.last + 1);
    }
    for (int op = next; op < operators; ++op) NoteUncovered(op);
  }

  void NoteUncovered(int op) {
    findings_.Note(ViolationKind::kCoverage,
                   fmt::format("operator '{}' is in no subgraph at its turn", At(op).id));
  }

  // The kept tensors must be boundary tensors of this partition, each named once, that would
  // otherwise leave the tile memory.
  void CheckKept(const std::vector<Users>& users) {
    int before = -1;
    for (const int tensor : plan_.kept) {
      if (!HasTensor(plan_.network, tensor) || tensor <= before) {
        findings_.Note(ViolationKind::kPolicy,
                       "the tensors kept on chip are no ascending list of tensors");
        return;
      }
      before = tensor;
      const auto index = static_cast<size_t>(tensor);
      const graph::Tensor& facts = plan_.network.tensors[index];
      const bool crosses = std::all_of(
          plan_.subgraphs.begin(), plan_.subgraphs.end(), [&](const Subgraph& subgraph) {
            return RoleOf(facts, users[index], subgraph.interval) == base::TensorRole::kBoundary;
          });
      if (!crosses) {
        findings_.Note(
            ViolationKind::kPolicy,
            fmt::format("tensor '{}' is kept on chip, but passes between no subgraphs", facts.id));
      } else if (hw_profiles::LayoutOf(plan_.profile, base::TensorRole::kBoundary).home ==
                 plan_.profile.tile_memory) {
        findings_.Note(ViolationKind::kPolicy,
                       fmt::format("tensor '{}' is kept on chip, which is its home", facts.id));
      }
    }
  }

  void CheckTile(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    const graph::Operator& last = At(subgraph.interval.last);
    const graph::Tensor& tiled = plan_.network.tensors[static_cast<size_t>(last.outputs.front())];
    if (subgraph.tile.size() != tiled.shape.size()) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("the tile of subgraph {} has {} extents where '{}' has {}", i,
                                 subgraph.tile.size(), tiled.id, tiled.shape.size()));
      return;
    }
    for (size_t axis = 0; axis < tiled.shape.size(); ++axis) CheckExtent(i, tiled, axis, users);
    if (!findings_.Empty()) return;
    const bool caches = subgraph.halo != hw_profiles::HaloStorage::kRecompute;
    if (caches && !MayCacheHalo(plan_.profile, tiled.shape, subgraph.tile)) {
      findings_.Note(
          ViolationKind::kTile,
          fmt::format("subgraph {} caches its halo, but its tiles do not lie one below the other",
                      i));
    }
    const int64_t tiles = CountTiles(tiled.shape, subgraph.tile);
    if (tiles != subgraph.tiles) {
      findings_.Note(
          ViolationKind::kTile,
          fmt::format("subgraph {} states {} tiles, but tiles of [{}] cut '{}' into {}", i,
                      subgraph.tiles, fmt::join(subgraph.tile, ", "), tiled.id, tiles));
    }
    if (tiles > kMostTiles) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("subgraph {} has {} tiles, too many to check", i, tiles));
    }
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op) {
      if (tiles == 1 || !graph::IsBarrier(At(op))) continue;
      findings_.Note(ViolationKind::kTile,
                     fmt::format("operator '{}' is opaque, but subgraph {} has {} tiles", At(op).id,
                                 i, tiles));
    }
    if (tiles == 1) return;
    CheckStates(i);
    if (findings_.Empty()) CheckReplacements(i, users);
  }

  // The part of a state's next value that a tile makes may lie where another operator reads the
  // state for the next tile.
  void CheckStates(size_t i) {
    const graph::Interval interval = plan_.subgraphs[i].interval;
    for (int op = interval.first; op <= interval.last; ++op) {
      for (const int output : At(op).outputs) {
        const int state = plan_.network.tensors[static_cast<size_t>(output)].next_of;
        for (int reader = interval.first; reader <= interval.last && state >= 0; ++reader) {
          const std::vector<int>& inputs = At(reader).inputs;
          if (reader == op || std::find(inputs.begin(), inputs.end(), state) == inputs.end())
            continue;
          findings_.Note(
              ViolationKind::kTile,
              fmt::format("operator '{}' reads a state that '{}' replaces, but subgraph {} has "
                          "several tiles",
                          At(reader).id, At(op).id, i));
        }
      }
    }
  }

  // An operator that reads a state to make its next value may overwrite the state. A second tile
  // that makes the same part would read the overwritten value.
  void CheckReplacements(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    std::map<int, int64_t> made;  // elements, by next value
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op) {
      const std::vector<int>& inputs = At(op).inputs;
      for (const int output : At(op).outputs) {
        const int state = TensorAt(output).next_of;
        if (state >= 0 && std::find(inputs.begin(), inputs.end(), state) != inputs.end())
          made[output] = 0;
      }
    }
    if (made.empty()) return;
    ForEachTile(plan_.network, users, subgraph, [&made](const Tile& tile) {
      for (auto& [next, elements] : made) elements += VolumeOf(MadeOf(tile, next));
    });
    for (const auto& [next, elements] : made) {
      if (elements == VolumeOf(WholeOf(TensorAt(next).shape))) continue;
      findings_.Note(ViolationKind::kTile,
                     fmt::format("tiles of subgraph {} make parts of '{}' twice, from a "
                                 "state that it replaces",
                                 i, TensorAt(next).id));
    }
  }

  void CheckExtent(size_t i, const graph::Tensor& tiled, size_t axis,
                   const std::vector<Users>& users) {
    const int64_t extent = plan_.subgraphs[i].tile[axis];
    if (extent < 1 || extent > tiled.shape[axis]) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("the tile of subgraph {} takes {} of the {} along axis {} of '{}'",
                                 i, extent, tiled.shape[axis], axis, tiled.id));
      return;
    }
    if (extent == tiled.shape[axis]) return;
    const auto name = MeaningOf(tiled.shape.size(), axis);
    const auto& axes = plan_.profile.tiling.axes;
    const auto cut = std::find_if(
        axes.begin(), axes.end(),
        [&](const hw_profiles::AxisGranularity& granularity) { return granularity.axis == name; });
    if (cut == axes.end()) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("subgraph {} cuts axis {} of '{}', which the profile does not", i,
                                 axis, tiled.id));
    } else if (extent % cut->granularity != 0) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("the tile of subgraph {} has {} {}, no multiple of {}", i, extent,
                                 base::NameOf(cut->axis), cut->granularity));
    } else if (!MayCut(plan_.network, users, plan_.subgraphs[i].interval, axis)) {
      findings_.Note(ViolationKind::kTile,
                     fmt::format("subgraph {} cuts axis {} of '{}', and its operators need "
                                 "something whole for each tile",
                                 i, axis, tiled.id));
    }
  }

  // A subgraph with split K has operands that arrive in slices.
  void CheckSplitK(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    std::string fault = SplitKFault(plan_, subgraph);
    if (const std::optional<KSlices> slices = FindKSlices(plan_, subgraph);
        slices && fault.empty()) {
      const bool moves =
          std::any_of(slices->along.begin(), slices->along.end(), [&](const auto& factor) {
            return ResidencyOf(plan_, users, subgraph, factor.first).residency ==
                   Residency::kStreamed;
          });
      if (!moves) fault = "is held as split_k, but none of its operands is moved";
    }
    if (!fault.empty())
      findings_.Note(ViolationKind::kPolicy, fmt::format("subgraph {} {}", i, fault));
  }

  void CheckResidency(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    const auto& policies = plan_.profile.tiling.weights;
    if (subgraph.serialized && !plan_.profile.tiling.may_serialize) {
      findings_.Note(ViolationKind::kPolicy,
                     fmt::format("subgraph {} is serialized, which the profile does not allow", i));
    }
    const auto& halos = plan_.profile.tiling.halo;
    const bool caches = subgraph.halo != hw_profiles::HaloStorage::kRecompute;
    if (caches && std::find(halos.begin(), halos.end(), subgraph.halo) == halos.end()) {
      findings_.Note(ViolationKind::kPolicy,
                     fmt::format("subgraph {} has its halo {}, which the profile does not", i,
                                 hw_profiles::NameOf(subgraph.halo)));
    }
    if (const std::string fault = HostFault(plan_, subgraph); !fault.empty())
      findings_.Note(ViolationKind::kPolicy, fmt::format("subgraph {} {}", i, fault));
    CheckSplitK(i, users);
    for (const int tensor : TensorsOf(plan_.network, subgraph.interval)) {
      const Held held = ResidencyOf(plan_, users, subgraph, tensor);
      if (!held.fault.empty()) {
        findings_.Note(ViolationKind::kPolicy, fmt::format("subgraph {}: {}", i, held.fault));
      }
      const bool chosen = held.role == base::TensorRole::kConstant &&
                          held.residency != Residency::kWhole &&
                          !IsOnHost(plan_, subgraph.interval);
      if (chosen &&
          std::find(policies.begin(), policies.end(), subgraph.weights) == policies.end()) {
        findings_.Note(ViolationKind::kPolicy,
                       fmt::format("subgraph {} holds weights {}, which the profile does not", i,
                                   hw_profiles::NameOf(subgraph.weights)));
        return;
      }
    }
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op) {
      if (EngineOf(plan_, At(op)) != nullptr) continue;
      const int typical = At(op).inputs.empty() ? At(op).outputs.front() : At(op).inputs.front();
      const base::DataType type = plan_.network.tensors[static_cast<size_t>(typical)].type;
      findings_.Note(ViolationKind::kPolicy,
                     fmt::format("no engine of the profile runs operator '{}' ({} of {})",
                                 At(op).id, base::NameOf(At(op).kind), base::NameOf(type)));
    }
  }

  // Checks that something is loaded once or in slices that may arrive ahead, and that other work
  // continues in the meantime.
  void CheckPrefetch(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    const std::vector<int> tensors = TensorsOf(plan_.network, subgraph.interval);
    const bool loads = std::any_of(tensors.begin(), tensors.end(), [&](int tensor) {
      const Residency residency = ResidencyOf(plan_, users, subgraph, tensor).residency;
      return residency == Residency::kResident ||
             (residency == Residency::kStreamed && TakesSlicesAhead(subgraph));
    });
    const auto number = static_cast<int64_t>(i);
    bool overlaps = subgraph.prefetch.front() > 0;
    for (size_t part = 0; part < subgraph.prefetch.size(); ++part) {
      const int64_t carrier = number - subgraph.prefetch[part];
      overlaps = overlaps && 0 <= carrier && carrier <= number &&
                 (part == 0 || subgraph.prefetch[part] <= subgraph.prefetch[part - 1]) &&
                 IsDoubleBuffered(plan_, plan_.subgraphs[static_cast<size_t>(carrier)]) &&
                 plan_.subgraphs[static_cast<size_t>(carrier)].second_stage == 0;
    }
    overlaps = overlaps && IsDoubleBuffered(plan_, subgraph);
    if (loads && overlaps) return;
    findings_.Note(
        ViolationKind::kPolicy,
        fmt::format("subgraph {} prefetches its constants, but {}", i,
                    loads ? "nothing runs while they arrive, or their parts arrive out of order"
                          : "loads none of them once"));
  }

  // Checks the conditions of two stages: docs/program.md, "Two stages".
  void CheckStages(size_t i, const std::vector<Users>& users) {
    const Subgraph& subgraph = plan_.subgraphs[i];
    const auto note = [&](const std::string& why) {
      findings_.Note(ViolationKind::kPolicy,
                     fmt::format("subgraph {} has two stages, but {}", i, why));
    };
    const graph::Interval interval = subgraph.interval;
    if (subgraph.second_stage < 0 || subgraph.second_stage > interval.last - interval.first)
      return note("the second has no operator of its own");
    const auto here = static_cast<size_t>(plan_.profile.tile_memory);
    if (SideBySide(plan_.profile) < 2 || !IsDoubleBuffered(plan_, subgraph))
      return note("the profile has no engines that work at the same time");
    if (!plan_.profile.memories[here].modes.empty()) return note("the tile memory has modes");
    const bool held_so = subgraph.weights == hw_profiles::WeightPolicy::kResident ||
                         subgraph.weights == hw_profiles::WeightPolicy::kDirect;
    if (!held_so || subgraph.in_place || !subgraph.prefetch.empty() ||
        subgraph.halo != hw_profiles::HaloStorage::kRecompute)
      return note("it has slices, kept rows, results in place or prefetched constants");
    if (subgraph.tiles < 3) return note("fewer than three tiles");
    if (std::any_of(plan_.homes.begin(), plan_.homes.end(),
                    [](const Home& home) { return home.by_tiles; }))
      return note("tensors share addresses off chip tile by tile");
    const auto is_late = [&](int op) { return op >= interval.first + subgraph.second_stage; };
    for (const int tensor : TensorsOf(plan_.network, interval)) {
      const graph::Tensor& facts = TensorAt(tensor);
      if (facts.state || facts.next_of >= 0)
        return note(fmt::format("tensor '{}' is of a state", facts.id));
      if (ResidencyOf(plan_, users, subgraph, tensor).residency != Residency::kLoaded) continue;
      std::set<bool> stages;
      for (const int reader : users[static_cast<size_t>(tensor)].readers) {
        if (interval.first <= reader && reader <= interval.last) stages.insert(is_late(reader));
      }
      if (stages.size() > 1) return note(fmt::format("both load tensor '{}'", facts.id));
    }
  }

  const Plan& plan_;
  Findings& findings_;
};

}  // namespace

void CheckPartition(const Plan& plan, Findings& findings) { PartitionCheck(plan, findings).Run(); }

void CheckSubgraph(const Plan& plan, size_t subgraph, Findings& findings) {
  PartitionCheck(plan, findings).Check(subgraph, FindUsers(plan.network));
}

}  // namespace tessera::plan::verify
