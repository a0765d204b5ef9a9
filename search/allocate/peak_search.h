// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/search/allocate/lanes.h"

namespace tessera::search::allocate {

// The least number of buffers for which an engine that lowers peaks takes part.
inline constexpr size_t kManyBuffers = 600;

// Returns the first engine that lowers peaks if it should be used for a memory with that number of
// buffers, else nullptr. An engine that is the only one is always used.
const problem::Engine* FindPeakEngine(std::span<const problem::Engine* const> engines,
                                      size_t buffers);

// The sessions of one engine that lowers peaks (problem/engine.h). They are strands that work
// concurrently and exchange the best allocation after each round:
//
//     strand 0 |--|-----|--------|             A round is a counted amount of work of each strand,
//     strand 1 |--|-----|--------|             so the result depends on no thread and no clock.
//                 ^     ^        ^ exchange
//
// Strand 0 ends the round for all when it meets the target.
class PeakSearch {
 public:
  struct Question {
    problem::Bytes target = 0;                   // of memories[0]: ends the search
    problem::Bytes capacity = 0;                 // of memories[0]: a higher peak is no answer
    const problem::Allocation* known = nullptr;  // the best of other engines, and its peak
    std::optional<problem::Bytes> known_peak = std::nullopt;
  };

  // `input` and `engine` must outlive this object. The engine must have strands.
  PeakSearch(const LaneProblem& input, const problem::Engine& engine);

  // Runs one round. Each strand uses at most `allowance.slice` units of the engine, and all strands
  // together at most `allowance.units`. The verdict is kFeasible with the best allocation of this
  // object so far, which is not validated; or kUnknown; or kUnsupported. The report is conclusive
  // if the target is met.
  LaneReport Run(const Question& question, const Allowance& allowance, base::Threads threads,
                 const base::Stop& stop);

  // Returns whether the engine may still help. If not, Refusal() returns the reason.
  bool Works() const { return refusal_.empty(); }
  const std::string& Refusal() const { return refusal_; }
  bool LacksMemory() const { return lacks_memory_; }

 private:
  bool Ask(size_t strand, const Question& question, int64_t units, const base::Stop& stop,
           problem::Result& result);
  void Take(problem::Result result, LaneReport& report);

  const LaneProblem& input_;
  const problem::Engine& engine_;
  std::vector<std::unique_ptr<problem::Session>> sessions_;  // by strand; made at the first use
  std::optional<problem::Result> best_;
  std::string refusal_;
  bool lacks_memory_ = false;
};

}  // namespace tessera::search::allocate
