// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/search/allocate/lanes.h"

namespace tessera::search::allocate {

// From this number of buffers on, an engine that lowers peaks takes part.
inline constexpr size_t kManyBuffers = 600;

// The first engine that lowers peaks, if it is to be used for a memory with that number of buffers;
// nullptr otherwise.
const problem::Engine* FindPeakEngine(std::span<const problem::Engine* const> engines,
                                      size_t buffers);

// The sessions of one engine that lowers peaks (problem/engine.h), as strands that work side by
// side and exchange the best allocation after each round:
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

  // `input` must outlive this object. The engine has strands.
  PeakSearch(const LaneProblem& input, const problem::Engine& engine);

  // A strand uses `allowance.slice` units of the engine, and all together at most
  // `allowance.units`. The verdict is kFeasible with the best allocation of this object so far,
  // which is not validated; kUnknown; or kUnsupported. It is conclusive at the target.
  LaneReport Run(const Question& question, const Allowance& allowance, int threads,
                 const base::Stop& stop);

  // Whether the engine may still help. If not, Refusal() says why.
  bool Works() const { return refusal_.empty(); }
  const std::string& Refusal() const { return refusal_; }
  bool LacksMemory() const { return lacks_memory_; }

 private:
  bool Ask(size_t strand, const Question& question, int64_t units, const base::Stop& stop,
           problem::Result& result);
  void Take(problem::Result result, LaneReport& report);

  const LaneProblem& input_;
  const problem::Engine& engine_;
  std::vector<std::unique_ptr<problem::Session>> sessions_;  // by strand; made when first asked
  std::optional<problem::Result> best_;
  std::string refusal_;
  bool lacks_memory_ = false;
};

}  // namespace tessera::search::allocate
