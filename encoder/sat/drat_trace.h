#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/backend.h"

namespace tessera::encoder {

// What CaDiCaL answered to a formula, and how it got there.
struct TracedAnswer {
  Answer answer;
  std::string trace;  // DRAT as text, where the answer is kUnsatisfiable
};

using ClauseVisitor = std::function<void(std::span<const int>)>;

// Decides the clauses that `visit_all` hands to its argument, in one go. Literals are DIMACS. Budget units are
// conflicts.
TracedAnswer SolveTraced(const std::function<void(const ClauseVisitor&)>& visit_all, uint64_t seed,
                         const base::Budget& budget, const base::Stop& stop);

// One line of a trace.
struct TraceLine {
  bool deletes = false;
  std::vector<int> literals;
};

// Takes the next line off the trace. False at its end, and where the text is no trace.
bool TakeTraceLine(std::string_view& trace, TraceLine& line);

}  // namespace tessera::encoder
