#include "tessera/plan/check_homes.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/plan/derivation.h"
#include "tessera/plan/home_stays.h"
#include "tessera/plan/program_problem.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Whether every tensor outside the tile memory has an address of its own while it is there. What must be there follows from the
// partition (home_stays.h); that the bytes fit is asked first, for it tells more than any placement that fails.
namespace tessera::plan {
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
    for (const auto& [memory, stays] : stays_) CheckLoad(memory, stays);
    if (!findings_.Empty()) return;
    for (const Home& home : plan_.homes) {
      if (!stays_.contains(home.memory)) {
        findings_.Note(ViolationKind::kMemory, "the plan has a home that holds nothing");
      } else if (!homes_.emplace(home.memory, &home).second) {
        findings_.Note(ViolationKind::kMemory, fmt::format("home '{}' is there twice", NameOf(home.memory)));
      }
    }
    for (const auto& [memory, stays] : stays_) {
      const auto home = homes_.find(memory);
      if (home == homes_.end()) {
        findings_.Note(ViolationKind::kMemory, fmt::format("home '{}' has no addresses", NameOf(memory)));
      } else {
        CheckHome(*home->second, stays);
      }
    }
  }

 private:
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
        findings_.Note(ViolationKind::kBuffer, fmt::format("tensor '{}' has no address in its home '{}'",
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
      findings_.Note(ViolationKind::kAlignment, fmt::format("{} is aligned to {} bytes instead of {}", where,
                                                            buffer.alignment, stay.alignment));
    }
    if (buffer.lifespans != expected) {
      findings_.Note(ViolationKind::kLifespan, fmt::format("{} should be there for subgraphs [{}, {})", where,
                                                           stay.subgraphs.lower, stay.subgraphs.upper));
    }
    if (buffer.role != base::NameOf(stay.role)) {
      findings_.Note(ViolationKind::kBuffer, fmt::format("{} states role '{}' instead of '{}'", where,
                                                         buffer.role, base::NameOf(stay.role)));
    }
    const problem::Span span = plan_.profile.memories[static_cast<size_t>(stay.memory)].span;
    if (buffer.span != span || !buffer.allowed_banks.empty() || buffer.memory != 0) {
      findings_.Note(ViolationKind::kSpan, fmt::format("{} is not bound to banks as its memory says", where));
    }
  }

  // Against the profile's memory, whatever the plan says of it.
  void CheckAddresses(const Home& home) {
    problem::Problem problem;
    problem.buffers = home.problem.buffers;
    problem.memories = {HomeMemory(plan_.profile, home.memory)};
    for (Buffer& buffer : problem.buffers) buffer.offset.reset();
    if (const auto fault = problem::FindFault(problem)) {
      findings_.Note(ViolationKind::kMemory,
                     fmt::format("home '{}': {}: {}", NameOf(home.memory), fault->pointer, fault->message));
      return;
    }
    for (const problem::Violation& violation :
         problem::Validate(problem, home.allocation, problem.memories.front().capacity)) {
      findings_.Note(ViolationKind::kAllocation,
                     fmt::format("home '{}': {}: {}", NameOf(home.memory), problem::NameOf(violation.kind),
                                 violation.message));
    }
  }

  const Plan& plan_;
  Findings& findings_;
  std::map<int, std::vector<HomeStay>> stays_;  // by memory
  std::map<int, const Home*> homes_;            // by memory
};

}  // namespace

void CheckHomes(const Plan& plan, Findings& findings) { HomeCheck(plan, findings).Run(); }

}  // namespace tessera::plan
