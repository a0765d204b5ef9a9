// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_MODES_H_
#define TESSERA_MODES_H_

#include <tessera/allocate.h>
#include <tessera/call.h>
#include <tessera/plan.h>
#include <tessera/result.h>

#include <string>
#include <vector>

// The bank modes that a chip does not need (docs/modes.md).
namespace tessera {
inline namespace v0 {

// The modes of one memory.
struct MemoryModes {
  std::string memory;
  std::vector<std::string> keep;
  std::vector<std::string> remove;
  std::vector<std::string> frees;  // accesses that only removed modes allow: "dma.read of bank 1"
};

struct ModesAnswer {
  // kOptimal: the kept modes are enough, and fewer are proven not to be. kFeasible: the kept modes
  // are enough. kInfeasible: even all modes together are not enough. kUnknown: a limit came first.
  Outcome outcome = Outcome::kUnknown;
  std::vector<MemoryModes> memories = {};
  // kOptimal, kFeasible: the profile of the plans, or the last problem, without the removed modes,
  // as JSON.
  std::string reduced = {};
  std::string text = {};  // the answer as `tessera modes` prints it
  std::string json = {};  // the same with --format json
  bool stopped = false;   // a deadline, a memory limit or a cancellation cut it off
};

// The names are for messages, one for each plan or problem; empty: they are numbered.

// Returns the fewest modes with which all these plans, which share one profile, can still be
// placed. Sizes stay; offsets and the mode at each step may change.
TESSERA_API Result<ModesAnswer> Modes(const std::vector<Plan>& plans,
                                      const SearchOptions& options = {},
                                      const std::vector<std::string>& names = {});

// As above, for problems with the same memories.
TESSERA_API Result<ModesAnswer> Modes(const std::vector<Problem>& problems,
                                      const SearchOptions& options = {},
                                      const std::vector<std::string>& names = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_MODES_H_
