// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/reasons/fewest_modes.h"

// The bank modes that a chip does not need (docs/modes.md): questions and answers.
namespace tessera::api::parts {

inline constexpr int64_t kModesBudget = 200'000;  // of each query to an engine

// Questions about the modes of one chip: for each plan its subgraphs one by one, then the plan as a
// whole; or the given Problems.
class ModeQuestion {
 public:
  // Adds the questions about a plan or a Problem. `name` is for messages. Refuses plans and
  // Problems together, plans of different profiles, plans that are wrong, and memories whose modes
  // differ from those of the first input.
  std::optional<base::Diagnostic> Add(const plan::Plan& plan, const std::string& name);
  std::optional<base::Diagnostic> Add(problem::Problem problem, const std::string& name);

  // Returns the fault if no memory has modes.
  std::optional<base::Diagnostic> FindLack() const;

  const std::vector<search::reasons::ModeQuery>& Queries() const { return queries_; }
  const std::string& NameOf(size_t query) const { return names_[query]; }
  const problem::Problem& Problem() const { return queries_.back().problem; }
  const std::optional<hw_profiles::Profile>& Profile() const { return profile_; }  // of plans

 private:
  std::optional<base::Diagnostic> CheckMemories(const std::string& name) const;

  std::vector<search::reasons::ModeQuery> queries_;
  std::vector<std::string> names_;  // parallel: "conv1..conv3 of plan.json", "plan.json"
  std::optional<hw_profiles::Profile> profile_;
};

// Returns whether the kept modes are enough.
bool IsEnough(const search::reasons::FewestModes& found);

// The modes of one memory, kept and removed.
struct MemoryModes {
  std::string memory;
  std::vector<std::string> keep;
  std::vector<std::string> remove;
  std::vector<search::reasons::FreedAccess> frees;
};

std::vector<MemoryModes> MemoryModesOf(const problem::Problem& problem,
                                       const search::reasons::FewestModes& found);

std::vector<std::string> NamesOf(const problem::Problem& problem,
                                 const std::vector<search::reasons::ModeId>& modes);

// Return "bank 1", and "dma.read".
std::string BankName(const problem::Problem& problem, const search::reasons::FreedAccess& freed);
std::string AccessName(const problem::Permission& access);

// Returns the reduced profile of the plans, or the reduced Problem, as a JSON document.
std::string WithFewestModes(const ModeQuestion& question,
                            const search::reasons::FewestModes& found);

// The answer as `tessera modes` prints it.
std::string DescribeModes(const ModeQuestion& question, const search::reasons::FewestModes& found);
std::string ModesAsJson(const ModeQuestion& question, const search::reasons::FewestModes& found);

}  // namespace tessera::api::parts
