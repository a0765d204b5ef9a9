// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/choose/choose.h"

#include <tessera/choose.h>

#include <chrono>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/choice.h"
#include "tessera/base/arithmetic.h"

namespace tessera::api {
namespace {

std::optional<Error> FindBadChoice(const Problem::Content& problem, problem::Bytes capacity) {
  if (auto error = RefuseConstraints(problem, "Choose")) return error;
  if (!problem.candidates.empty())
    return BadArgument("the problem has tile candidates", "AtCandidate of the problem");
  if (capacity < 0 || capacity >= base::kMaxTotal)
    return BadArgument("neither problem nor options say how large the memory is", "a capacity");
  return std::nullopt;
}

ChooseAnswer AsAnswer(const Problem::Content& problem, parts::ChoiceDocument document) {
  const problem::Problem& buffers = problem.document.problem;
  const search::choose::Choice& choice = document.choice;
  ChooseAnswer answer;
  answer.outcome = OutcomeOf(choice.status);
  for (size_t i = 0; i < choice.chosen.size(); ++i) {
    answer.chosen.push_back(choice.chosen[i]      ? Chosen::kPlaced
                            : choice.stands_in[i] ? Chosen::kFallback
                                                  : Chosen::kLeftOut);
  }
  answer.offsets = choice.offsets;
  answer.value = choice.value;
  answer.bound = choice.bound;
  answer.engine = choice.engine;
  answer.reason = choice.reason;
  answer.text = parts::DescribeChoice(buffers, document);
  answer.json = parts::ChoiceAsJson(buffers, document);
  if (answer.outcome == Outcome::kOptimal || answer.outcome == Outcome::kFeasible) {
    problem::files::AllocationDocument placed;
    placed.result = parts::ChosenPlacement(buffers, document);
    placed.capacity = document.capacity;
    answer.allocation = AsAllocation(
        AsProblem({parts::ChosenProblem(buffers, document), std::nullopt}), std::move(placed));
  }
  return answer;
}

Result<ChooseAnswer> Answer(const Problem::Content& problem, const ChooseOptions& given) {
  if (auto error = FindBadOption(given)) return *std::move(error);
  parts::ChoiceDocument document;
  document.fallbacks = problem.document.fallbacks;
  document.capacity = given.capacity.value_or(problem.document.problem.memories[0].capacity);
  if (auto error = FindBadChoice(problem, document.capacity)) return *std::move(error);
  const CallStop stop(given);
  const parts::EngineSet engines = EnginesOf(given);
  search::choose::ChooseOptions options;
  options.capacity = document.capacity;
  options.fallbacks = &problem.document.fallbacks;
  options.budget = base::Budget{given.budget.value_or(parts::kChoiceBudget)};
  options.threads = ThreadsOf(given);
  options.seed = given.seed;
  options.stop = &stop.Get();
  options.progress = OneAtATime(given);
  const auto start = std::chrono::steady_clock::now();
  base::Expected<search::choose::Choice> choice =
      search::choose::Choose(problem.document.problem, engines.Pointers(), options);
  if (!choice) return AsError(CallStatus::kInternal, choice.error());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  document.choice = *std::move(choice);
  document.seed = static_cast<int64_t>(given.seed);
  document.time_ms = elapsed.count();
  ChooseAnswer answer = AsAnswer(problem, std::move(document));
  answer.stopped = stop.Get().HasCutOff();
  return answer;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<ChooseAnswer> Choose(const Problem& problem, const ChooseOptions& options) {
  return api::Guarded([&] { return api::Answer(problem.Get(), options); });
}

}  // namespace v0
}  // namespace tessera
