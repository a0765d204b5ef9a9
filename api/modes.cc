// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/modes.h"

#include <tessera/modes.h>

#include <utility>

#include "tessera/api/content.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/reasons/fewest_modes.h"

namespace tessera::api {
namespace {

std::vector<MemoryModes> MemoriesOf(const problem::Problem& problem,
                                    const search::reasons::FewestModes& found) {
  std::vector<MemoryModes> memories;
  for (parts::MemoryModes& part : parts::MemoryModesOf(problem, found)) {
    MemoryModes& memory = memories.emplace_back();
    memory.memory = std::move(part.memory);
    memory.keep = std::move(part.keep);
    memory.remove = std::move(part.remove);
    for (const search::reasons::FreedAccess& freed : part.frees) {
      memory.frees.push_back(parts::AccessName(freed.access) + " of " +
                             parts::BankName(problem, freed));
    }
  }
  return memories;
}

Result<ModesAnswer> Answer(const parts::ModeQuestion& question, const SearchOptions& options) {
  if (auto error = FindBadOption(options)) return *std::move(error);
  if (auto fault = question.FindLack()) return BadInput(*fault);
  const CallStop stop(options);
  const parts::EngineSet engines = EnginesOf(options);
  const search::reasons::FewestModes found = search::reasons::FindFewestModes(
      question.Queries(), search::allocate::MakeDecider(engines.Pointers(), stop.Get()),
      {.budget = base::Budget{options.budget.value_or(parts::kModesBudget)}, .stop = &stop.Get()});
  ModesAnswer answer;
  answer.outcome = OutcomeOf(found.status);
  if (parts::IsEnough(found)) {
    answer.memories = MemoriesOf(question.Problem(), found);
    answer.reduced = parts::WithFewestModes(question, found);
  }
  answer.text = parts::DescribeModes(question, found);
  answer.json = parts::ModesAsJson(question, found);
  answer.stopped = stop.Get().HasCutOff();
  return answer;
}

// Calls `add` with each index below `count` and a name.
template <typename Add>
Result<ModesAnswer> Ask(size_t count, const std::string& what, const SearchOptions& options,
                        const std::vector<std::string>& names, const Add& add) {
  if (count == 0) return BadArgument("there are no " + what + "s", "at least one " + what);
  if (!names.empty() && names.size() != count)
    return BadArgument(
        std::to_string(names.size()) + " names of " + std::to_string(count) + " " + what + "s",
        "a name for each, or none");
  parts::ModeQuestion question;
  for (size_t i = 0; i < count; ++i) {
    const std::string name =
        names.empty() ? what + (count == 1 ? "" : " " + std::to_string(i)) : names[i];
    if (auto fault = add(question, i, name)) return BadInput(*fault);
  }
  return Answer(question, options);
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<ModesAnswer> Modes(const std::vector<Plan>& plans, const SearchOptions& options,
                          const std::vector<std::string>& names) {
  return api::Guarded([&] {
    return api::Ask(plans.size(), "plan", options, names,
                    [&](api::parts::ModeQuestion& question, size_t i, const std::string& name) {
                      return question.Add(plans[i].Get().plan, name);
                    });
  });
}

Result<ModesAnswer> Modes(const std::vector<Problem>& problems, const SearchOptions& options,
                          const std::vector<std::string>& names) {
  return api::Guarded([&]() -> Result<ModesAnswer> {
    for (const Problem& problem : problems) {
      if (auto error = api::RefuseConstraints(problem.Get(), "Modes")) return *std::move(error);
    }
    return api::Ask(problems.size(), "problem", options, names,
                    [&](api::parts::ModeQuestion& question, size_t i, const std::string& name) {
                      return question.Add(problems[i].Get().document.problem, name);
                    });
  });
}

}  // namespace v0
}  // namespace tessera
