#include "tessera/cli/reasons.h"

#include <CLI/CLI.hpp>

#include "tessera/problem/explanation_text.h"
#include "tessera/search/allocate/decider.h"

namespace tessera::cli {
namespace {

constexpr int64_t kReasonBudget = 100'000;

}  // namespace

std::string Collision::Summary() const { return problem::Summarize(problem, explanation, capacity); }

std::string Collision::Text(size_t indent) const {
  std::string text;
  for (const std::string& line : problem::Sentences(problem, explanation, capacity)) {
    text += (text.empty() ? "" : std::string(indent, ' ')) + line + '\n';
  }
  return text;
}

void Reasons::Declare(CLI::App& app) {
  app.add_flag("--no-reasons", off_,
               "Do not look for the few conditions that collide where nothing fits, nor for what would help");
}

std::optional<Collision> Reasons::Find(const problem::Problem& problem, problem::Bytes capacity,
                                       const SearchOptions& search, const base::Stop& stop,
                                       const problem::Ladder* ladder, size_t rung) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const encoder::Decide decide = search::MakeDecider(engines.Pointers(), stop);
  encoder::ExplainOptions options;
  options.budget = search.Limit(kReasonBudget);
  options.stop = &stop;
  options.ladder = ladder;
  options.rung = rung;
  return Collision{problem, capacity, encoder::Explain(problem, capacity, decide, options)};
}

std::optional<Collision> Reasons::FindIfProven(const problem::Problem& problem, problem::Bytes capacity,
                                               const SearchOptions& search, const base::Stop& stop) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const encoder::Decide decide = search::MakeDecider(engines.Pointers(), stop);
  const problem::Status status = decide(problem, capacity, search.Limit(kReasonBudget)).status;
  if (status != problem::Status::kInfeasible) return std::nullopt;
  return Find(problem, capacity, search, stop);
}

}  // namespace tessera::cli
