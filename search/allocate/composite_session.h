// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "tessera/search/allocate/composites.h"
#include "tessera/search/allocate/engine_session.h"

namespace tessera::search::allocate {

// The common base of sessions that place composites, memory by memory.
class CompositeSession : public PerMemorySession {
 protected:
  CompositeSession(std::string_view engine, const problem::Problem& problem,
                   const problem::Ladder* ladder)
      : PerMemorySession(engine, BankSupport::kNone, problem, ladder, DistanceSupport::kColocate) {}

 private:
  void Reopen() final;
  bool SolveMemory(size_t memory, Bytes capacity, const base::Budget& budget,
                   const base::Stop& stop, problem::Result& result) final;

  // Discards all data that depends on sizes. The following calls are about new composites.
  virtual void Restart(size_t memories) = 0;

  // Returns the bases of a placement within the capacity; nullopt, with status and reason in
  // `result`, if there is none or no answer. `units` of the budget are left.
  virtual std::optional<std::vector<Bytes>> Place(size_t memory, const Composites& composites,
                                                  Bytes capacity, int64_t units,
                                                  const base::Stop& stop,
                                                  problem::Result& result) = 0;

  std::vector<std::optional<Composites>> composites_;  // by memory, for the current sizes
};

}  // namespace tessera::search::allocate
