// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search::allocate {

// The Problem that all lanes of a portfolio work on. Everything that it refers to must outlive the
// lanes.
struct LaneProblem {
  const problem::Problem& problem;  // the Problem given to the engines
  const problem::Ladder* ladder;    // may be null
  size_t candidate;
  // For the candidate, with every rule: answers are validated against it.
  const problem::Problem& sized;
  problem::Bytes granularity;  // every peak is a multiple of it
};

// The interval between the proven bound and the best peak found.
struct Gap {
  problem::Bytes bound;
  problem::Bytes peak;
};

// The part of a gap's work that a lane does.
enum class GapSide : uint8_t {
  kWhole,  // down from the peak in strides; the first stride goes once directly to the bound
  kLong,   // the long strides only
  kShort,  // up from the bound, then down from the peak in short strides
};

// The work that a lane may do in a round.
struct Allowance {
  int64_t slice;  // in nodes of canonical search; a conflict costs kNodesPerConflict of them
  int64_t units;  // of the whole budget, in the engines' own units
};

// The answer of one engine for one capacity.
struct EngineRun {
  std::string_view engine;
  problem::Bytes capacity = 0;
  problem::Status status = problem::Status::kUnknown;
  std::optional<problem::Bytes> peak;
  problem::Statistics statistics;
  std::string description = {};  // of the session, if it changed
};

// The result of a round of a lane.
struct LaneReport {
  problem::Result verdict;   // for the requested capacity, or the best placement of a minimisation
  problem::Bytes bound = 0;  // no allocation has a lower peak
  std::string proof;         // the engine that raised the bound last; empty if none did
  bool conclusive = false;   // no work is left, whatever other lanes find
  bool more_would_help = false;  // some engine used up its slice
  int64_t units = 0;             // used, of the budget
  std::vector<EngineRun> runs;
  std::optional<base::Diagnostic> fault;  // an engine returned an invalid allocation
};

// Engines that take turns, each with a separate session: one strand of the work of a portfolio. The
// results of a lane depend only on the calls, never on other lanes or the clock, except for a stop.
class Lane {
 public:
  struct EngineSlot {
    const problem::Engine* engine;
    int64_t cost_of_unit;  // nodes or kNodesPerConflict; a guess until the engine's first long turn
    bool reserve = false;  // used if all engines before it refuse, or if the Problem is small
    // Used only on the way down from a peak; for all other work another lane has this engine.
    bool auxiliary = false;
    // An engine that refutes nothing. It lowers a known peak, and is called late if there is none.
    bool improver = false;
  };
  static constexpr int64_t kNodesPerConflict = 128;

  Lane(const LaneProblem& input, std::span<const EngineSlot> slots);

  // Discards everything that was learned.
  void Reopen();

  // Returns whether some engine that is not auxiliary may still support the Problem. If not,
  // Refusals() returns the reasons.
  bool Works() const;
  const std::string& Refusals() const { return refusals_; }

  // Returns whether some engine refused for lack of memory rather than because of the Problem.
  bool LacksMemory() const;

  // Decides whether everything fits into `capacity`.
  LaneReport Decide(problem::Bytes capacity, const Allowance& allowance, const base::Stop& stop);
  // Closes the gap, or this lane's part of that work.
  LaneReport Narrow(Gap gap, GapSide side, const Allowance& allowance, const base::Stop& stop);

 private:
  struct State {
    std::unique_ptr<problem::Session> session;
    std::string description;  // last reported
    bool gave_up = false;     // its last answer was inconclusive, although more work was possible
    int64_t cost_of_unit = 1;
    bool refused = false;
    bool lacks_memory = false;  // the engine refuses because of a lack of memory
  };
  struct Round {
    Allowance left;
    const base::Stop& stop;
    LaneReport report;

    bool Over() const {
      return left.slice <= 0 || left.units <= 0 || report.fault || stop.Requested();
    }
  };

  void RaiseBound(Gap& gap, int64_t slice, Round& round);
  void Descend(Gap& gap, problem::Bytes stride, problem::Bytes least, problem::Bytes parts,
               Round& round);
  void LowerPeak(Gap& gap, problem::Bytes stride, problem::Bytes least, Round& round);
  void Chase(Gap& gap, problem::Bytes parts, Round& round);
  problem::Result Probe(problem::Bytes capacity, int64_t slice, bool descending, Round& round);
  problem::Result Ask(size_t slot, problem::Bytes capacity, int64_t units, Round& round);
  problem::Result Solve(size_t slot, problem::Bytes capacity, int64_t units,
                        const base::Stop& stop);
  bool Absorb(problem::Result result, problem::Bytes capacity, Gap& gap, Round& round) const;
  bool IsAsked(size_t slot, int64_t slice, bool descending) const;
  bool HasAuxiliary() const;
  bool HasImprover() const;
  bool CallsReserve(int64_t slice) const;
  LaneProblem input_;
  std::vector<EngineSlot> slots_;
  // Whether some offsets are fixed. Tree searches then tend to make wrong decisions early, so
  // improvers, which move buffers around the fixed ones, take part from the beginning.
  bool is_pinned_;
  std::vector<State> states_;     // parallel to slots_
  std::string refusals_;          // of the engines that refused so far
  problem::Bytes leapt_to_ = -1;  // the last bound that was tried in one stride
  int64_t improver_share_ = 0;    // of a slice, in quarters: for the next descent
};

// Distributes engines over lanes. Among the engines that can refute, the first two share lane 0.
// The third has lane 1 alone, except that the second helps it on the way down from a peak. The
// others are reserves. Engines that refute nothing join both lanes on the way down. With at most
// two engines that refute there is one lane.
std::vector<std::vector<Lane::EngineSlot>> SlotEngines(
    std::span<const problem::Engine* const> engines);

}  // namespace tessera::search::allocate
