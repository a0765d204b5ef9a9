// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Walks the program subgraph by subgraph and records the contents of the homes. A tensor that a
// subgraph makes and others read enters its home when the subgraph begins. A tensor without later
// readers leaves when the subgraph ends. In between, the memory holds both.
//
//     constants, state, network inputs  ->| s0 |-> ...  | s1 |-> ...  | s2 |
//                                     +a  ----------------------  -a
namespace tessera::plan::verify {

namespace {

using base::TensorRole;

class HomeStayFinder {
 public:
  explicit HomeStayFinder(const Plan& plan)
      : plan_(plan), users_(FindUsers(plan.network)), readers_left_(plan.network.tensors.size()) {}

  std::vector<HomeStay> Run() {
    for (size_t tensor = 0; tensor < users_.size(); ++tensor) {
      readers_left_[tensor] = users_[tensor].readers.size();
      const graph::Tensor& facts = plan_.network.tensors[tensor];
      if (facts.constant || facts.state || facts.network_input)
        MoveIn(static_cast<int>(tensor), {}, 0);
    }
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const graph::Interval interval = plan_.subgraphs[i].interval;
      for (int op = interval.first; op <= interval.last; ++op) {
        for (const int output : plan_.network.operators[static_cast<size_t>(op)].outputs)
          MoveIn(output, interval, i);
      }
      for (const int tensor : TensorsOf(plan_.network, interval)) MoveOutAfter(interval, tensor, i);
    }
    std::vector<HomeStay> stays;
    for (const auto& [tensor, stay] : stays_) stays.push_back(stay);
    return stays;
  }

 private:
  void MoveIn(int tensor, graph::Interval interval, size_t subgraph) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const TensorRole role = RoleOf(facts, users_[index], interval);
    if (role == TensorRole::kFeature || stays_.contains(tensor)) return;
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
    const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
    HomeStay stay;
    stay.memory = MemoryOf(plan_, tensor, role);
    stay.tensor = tensor;
    stay.role = role;
    stay.size = role == TensorRole::kConstant
                    ? ConstantBytes(plan_, users_, tensor, everything)
                    : StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block,
                                  layout.row_pitch_bytes);
    stay.alignment = std::lcm(layout.alignment_bytes, LinkAlignment(stay.memory));
    // To the end of the program, unless a last reader is found.
    stay.subgraphs = {static_cast<problem::Step>(subgraph),
                      static_cast<problem::Step>(plan_.subgraphs.size())};
    stays_.emplace(tensor, stay);
  }

  int64_t LinkAlignment(int home) const {
    int64_t alignment = 1;
    for (const hw_profiles::Link& link : plan_.profile.links) {
      if (std::minmax(link.first, link.second) != std::minmax(home, plan_.profile.tile_memory))
        continue;
      alignment = link.alignment_bytes;
      break;
    }
    return alignment;
  }

  void MoveOutAfter(graph::Interval interval, int tensor, size_t subgraph) {
    const auto index = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[index];
    const std::vector<int>& readers = users_[index].readers;
    readers_left_[index] -= static_cast<size_t>(std::count_if(
        readers.begin(), readers.end(), [&](int reader) { return Contains(interval, reader); }));
    if (readers.empty() || readers_left_[index] > 0) return;
    if (facts.constant || facts.state || facts.network_output) return;
    const auto stay = stays_.find(tensor);
    if (stay != stays_.end())
      stay->second.subgraphs.upper = static_cast<problem::Step>(subgraph) + 1;
  }

  const Plan& plan_;
  const std::vector<Users> users_;
  std::vector<size_t> readers_left_;  // by tensor
  std::map<int, HomeStay> stays_;     // by tensor
};

}  // namespace

std::vector<HomeStay> FindHomeStays(const Plan& plan) { return HomeStayFinder(plan).Run(); }

// Checks that every tensor outside the tile memory has a separate address while it is stored there.
// Which tensors must be stored there follows from the partition (checks.h, FindHomeStays). The
// capacity is checked first, because its message is more useful than that of a placement that
// fails.
namespace {

using problem::Buffer;

class HomeCheck {
 public:
  HomeCheck(const Plan& plan, Findings& findings) : plan_(plan), findings_(findings) {
    for (const HomeStay& stay : FindHomeStays(plan)) {
      if (stay.memory != plan.profile.tile_memory) stays_[stay.memory].push_back(stay);
    }
  }

  void Run() {
    for (const auto& [memory, stays] : stays_) {
      if (!IsByTiles(memory)) CheckLoad(memory, stays);
    }
    if (!findings_.Empty()) return;
    for (const Home& home : plan_.homes) {
      if (!stays_.contains(home.memory)) {
        findings_.Note(ViolationKind::kMemory, "the plan has a home that holds nothing");
      } else if (!homes_.emplace(home.memory, &home).second) {
        findings_.Note(ViolationKind::kMemory,
                       fmt::format("home '{}' is there twice", NameOf(home.memory)));
      }
    }
    for (const auto& [memory, stays] : stays_) {
      const auto home = homes_.find(memory);
      if (home == homes_.end()) {
        findings_.Note(ViolationKind::kMemory,
                       fmt::format("home '{}' has no addresses", NameOf(memory)));
      } else {
        CheckHome(*home->second, stays);
      }
    }
  }

 private:
  // Whether tensors there share addresses tile by tile (home_tiles.h).
  bool IsByTiles(int memory) const {
    return std::any_of(plan_.homes.begin(), plan_.homes.end(), [memory](const Home& home) {
      return home.memory == memory && home.by_tiles;
    });
  }

  const std::string& NameOf(int memory) const {
    return plan_.profile.memories[static_cast<size_t>(memory)].name;
  }
  const std::string& TensorId(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)].id;
  }

  void CheckLoad(int memory, const std::vector<HomeStay>& stays) {
    const problem::Memory described = HomeMemory(plan_.profile, memory);
    const int64_t room = FreeBytes(described, described.capacity);
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const auto step = static_cast<problem::Step>(i);
      int64_t load = 0;
      for (const HomeStay& stay : stays) {
        if (stay.subgraphs.lower <= step && step < stay.subgraphs.upper)
          load = base::CheckedAdd(load, stay.size).value_or(base::kMaxTotal);
      }
      if (load <= room) continue;
      findings_.Note(
          ViolationKind::kMemory,
          fmt::format("memory '{}' is home to {} bytes while subgraph {} runs, and has room for {}",
                      NameOf(memory), load, i, room));
    }
  }

  void CheckHome(const Home& home, const std::vector<HomeStay>& stays) {
    std::map<int, const Buffer*> buffers;
    for (size_t i = 0; i < home.problem.buffers.size(); ++i) {
      const int tensor = i < home.tensors.size() ? home.tensors[i] : -1;
      const bool known = std::any_of(stays.begin(), stays.end(),
                                     [&](const HomeStay& stay) { return stay.tensor == tensor; });
      if (!known || !buffers.emplace(tensor, &home.problem.buffers[i]).second) {
        findings_.Note(ViolationKind::kBuffer,
                       fmt::format("tensor '{}' is not in its home '{}', or there twice",
                                   home.problem.buffers[i].id, NameOf(home.memory)));
      }
    }
    for (const HomeStay& stay : stays) {
      const auto buffer = buffers.find(stay.tensor);
      if (buffer == buffers.end()) {
        findings_.Note(ViolationKind::kBuffer,
                       fmt::format("tensor '{}' has no address in its home '{}'",
                                   TensorId(stay.tensor), NameOf(home.memory)));
      } else {
        CheckTensor(*buffer->second, stay);
      }
    }
    if (findings_.Empty()) CheckAddresses(home);
  }

  void CheckTensor(const Buffer& buffer, const HomeStay& stay) {
    const std::string where =
        fmt::format("tensor '{}' in its home '{}'", TensorId(stay.tensor), NameOf(stay.memory));
    const std::vector<problem::Lifespan> expected = {stay.subgraphs};
    if (buffer.size != stay.size) {
      findings_.Note(ViolationKind::kSize,
                     fmt::format("{} has {} bytes but needs {}", where, buffer.size, stay.size));
    }
    if (buffer.alignment != stay.alignment) {
      findings_.Note(ViolationKind::kAlignment,
                     fmt::format("{} is aligned to {} bytes instead of {}", where, buffer.alignment,
                                 stay.alignment));
    }
    if (buffer.lifespans != expected) {
      findings_.Note(ViolationKind::kLifespan,
                     fmt::format("{} should be there for subgraphs [{}, {})", where,
                                 stay.subgraphs.lower, stay.subgraphs.upper));
    }
    if (buffer.role != base::NameOf(stay.role)) {
      findings_.Note(ViolationKind::kBuffer,
                     fmt::format("{} states role '{}' instead of '{}'", where, buffer.role,
                                 base::NameOf(stay.role)));
    }
    const problem::Span span = plan_.profile.memories[static_cast<size_t>(stay.memory)].span;
    if (buffer.span != span || !buffer.allowed_banks.empty() || buffer.memory != 0) {
      findings_.Note(ViolationKind::kSpan,
                     fmt::format("{} is not bound to banks as its memory says", where));
    }
  }

  // Checks against the profile's memory, not against the plan's description of it.
  void CheckAddresses(const Home& home) {
    problem::Problem problem;
    problem.buffers = home.problem.buffers;
    problem.memories = {HomeMemory(plan_.profile, home.memory)};
    for (Buffer& buffer : problem.buffers) buffer.offset.reset();
    // The bytes that tensors share are checked in home_tiles.cc.
    if (home.by_tiles) return CheckSingly(problem, home);
    if (const auto fault = problem::CheckWellFormed(problem)) {
      findings_.Note(ViolationKind::kMemory, fmt::format("home '{}': {}: {}", NameOf(home.memory),
                                                         fault->pointer, fault->message));
      return;
    }
    for (const problem::Violation& violation :
         problem::Validate(problem, home.allocation, problem.memories.front().capacity)) {
      findings_.Note(ViolationKind::kAllocation,
                     fmt::format("home '{}': {}: {}", NameOf(home.memory),
                                 problem::NameOf(violation.kind), violation.message));
    }
  }

  // Checks each tensor alone: it must be within the memory, aligned, and outside reserved ranges.
  void CheckSingly(const problem::Problem& problem, const Home& home) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      problem::Problem alone;
      alone.buffers = {problem.buffers[i]};
      alone.memories = problem.memories;
      for (const problem::Violation& violation : problem::Validate(
               alone, {{home.allocation.offsets[i]}, {}}, problem.memories.front().capacity)) {
        findings_.Note(ViolationKind::kAllocation,
                       fmt::format("home '{}': {}: {}", NameOf(home.memory),
                                   problem::NameOf(violation.kind), violation.message));
      }
    }
  }

  const Plan& plan_;
  Findings& findings_;
  std::map<int, std::vector<HomeStay>> stays_;  // by memory
  std::map<int, const Home*> homes_;            // by memory
};

}  // namespace

void CheckHomes(const Plan& plan, Findings& findings) { HomeCheck(plan, findings).Run(); }

}  // namespace tessera::plan::verify
