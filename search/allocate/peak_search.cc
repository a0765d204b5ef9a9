// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/peak_search.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "tessera/base/process.h"

namespace tessera::search::allocate {

using problem::Result;
using problem::Status;

const problem::Engine* FindPeakEngine(std::span<const problem::Engine* const> engines,
                                      size_t buffers) {
  const auto found =
      std::find_if(engines.begin(), engines.end(),
                   [](const problem::Engine* engine) { return engine->Strands() > 0; });
  return found != engines.end() && (buffers >= kManyBuffers || engines.size() == 1) ? *found
                                                                                    : nullptr;
}

PeakSearch::PeakSearch(const LaneProblem& input, const problem::Engine& engine)
    : input_(input), engine_(engine), sessions_(engine.Strands()) {}

// Returns false if memory for the strand is exhausted.
bool PeakSearch::Ask(size_t strand, const Question& question, int64_t units, const base::Stop& stop,
                     Result& result) {
  try {
    if (!sessions_[strand]) sessions_[strand] = engine_.Open(input_.problem, input_.ladder);
    result = sessions_[strand]->LowerPeak(
        {input_.candidate, question.target, question.capacity, question.known, strand},
        base::Budget{units}, stop);
    return true;
  } catch (const std::bad_alloc&) {
    stop.NoteFailedAllocation();
    return false;
  }
}

LaneReport PeakSearch::Run(const Question& given, const Allowance& allowance, base::Threads threads,
                           const base::Stop& stop) {
  LaneReport report;
  Question question = given;
  if (best_ && (!given.known_peak || *best_->peak < *given.known_peak))
    question.known = &*best_->allocation;
  const auto strands = static_cast<int64_t>(sessions_.size());
  const int64_t units = std::min(allowance.slice, std::max<int64_t>(allowance.units / strands, 1));
  std::vector<Result> results(sessions_.size());
  std::vector<std::atomic<bool>> failed(sessions_.size());
  base::Stop overtaken(std::nullopt, &stop);
  std::atomic<size_t> next = 0;
  std::atomic<bool> ended = false;  // by strand 0
  base::RunOnThreads(threads.AtMost(sessions_.size()), [&] {
    for (size_t i = next++; i < sessions_.size() && !ended; i = next++) {
      failed[i] = !Ask(i, question, units, i == 0 ? stop : overtaken, results[i]);
      if (i > 0 || !results[0].peak || *results[0].peak > question.target) continue;
      ended = true;
      overtaken.Request();
    }
  });
  if (ended) results.resize(1);
  for (Result& result : results) Take(std::move(result), report);
  lacks_memory_ = std::any_of(failed.begin(), failed.end(), [](const auto& f) { return f.load(); });
  if (lacks_memory_) refusal_ = std::string(engine_.Name()) + " found no memory";
  if (best_) {
    report.conclusive = *best_->peak <= question.target;
    report.verdict = *best_;
  }
  report.more_would_help = Works() && !report.conclusive;
  return report;
}

void PeakSearch::Take(Result result, LaneReport& report) {
  report.units += result.statistics.nodes;
  report.runs.push_back({engine_.Name(), 0, result.status, result.peak, result.statistics});
  if (result.status == Status::kUnsupported) {
    refusal_ = result.reason;
    report.verdict.status = Status::kUnsupported;
  } else if (!result.allocation) {
    report.verdict.reason = result.reason;
  }
  if (!result.allocation || (best_ && *best_->peak <= *result.peak)) return;
  result.engine = engine_.Name();
  best_ = std::move(result);
}

}  // namespace tessera::search::allocate
