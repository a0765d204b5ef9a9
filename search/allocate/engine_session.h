// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// Common parts of the sessions of engines: the check whether an engine supports a Problem, and base
// classes.
namespace tessera::search::allocate {

std::vector<problem::Bytes> SizesOf(const problem::Problem& problem);

enum class BankSupport { kNone, kWindows };
enum class DistanceSupport { kNone, kColocate };

// Returns a text that names the first requirement of the Problem that a search over offsets alone
// cannot satisfy, or nullopt. Such requirements are rules, modes or ports that restrict some
// access, relations other than separate and exclusive, and addresses that are too large. Unless
// windows are supported, spans and allowed banks that restrict the positions of a buffer are among
// them. If distances are supported, colocate relations are not. Requirements that restrict nothing
// are accepted.
std::optional<std::string> FindUnsupported(const problem::Problem& problem, BankSupport banks,
                                           DistanceSupport distances = DistanceSupport::kNone);

// Appends a reason, if it is not empty, to a text that lists reasons.
void AppendReason(std::string& reasons, const std::string& reason);

// Checks an answer that must contain an allocation. Returns a diagnostic that names the engine if
// the allocation is missing or invalid, which is an error of the program; else nullopt.
std::optional<base::Diagnostic> CheckAnswer(std::string_view engine,
                                            const problem::Problem& problem,
                                            problem::Bytes capacity, const problem::Result& result);

// The common base of the sessions of this module. It refuses Problems that the engine does not
// support, and presents one Problem to the engine, with the sizes of the requested candidate.
class SizedSession : public problem::Session {
 public:
  problem::Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) final;

 protected:
  // `problem` and `ladder` must outlive the session. `ladder` may be null.
  SizedSession(std::string_view engine, BankSupport banks, const problem::Problem& problem,
               const problem::Ladder* ladder, DistanceSupport distances = DistanceSupport::kNone);

  // Makes Sized() the Problem of the candidate. Returns false, with status and reason in `result`,
  // if the engine does not support the Problem, the candidate does not exist, or a stop was
  // requested.
  bool OpenCandidate(size_t candidate, const base::Stop& stop, problem::Result& result);

  // The Problem with the sizes of the requested candidate. Not valid before the first Reopen.
  const problem::Problem& Sized() const { return *sized_; }

 private:
  // Called when Sized() has changed: discards everything that depends on sizes.
  virtual void Reopen() = 0;
  // Fills in the answer for `capacity`. The engine name is already set.
  virtual void Answer(problem::Bytes capacity, const base::Budget& budget, const base::Stop& stop,
                      problem::Result& result) = 0;

  const std::string engine_;
  const BankSupport banks_;
  const DistanceSupport distances_;
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
  size_t candidate_ = 0;
  std::optional<problem::Problem> at_candidate_;  // none without a ladder
  const problem::Problem* sized_ = nullptr;       // null before the first call
};

// A session that answers for one memory after another, each in a constant permissive mode.
class PerMemorySession : public SizedSession {
 protected:
  using SizedSession::SizedSession;

 private:
  void Answer(problem::Bytes capacity, const base::Budget& budget, const base::Stop& stop,
              problem::Result& result) final;

  // Writes the offsets of a memory of this capacity into result.allocation, which already contains
  // the fixed offsets. Returns false, with status and reason in `result`, if there is no answer.
  // The budget is for all memories; result.statistics contains the work so far.
  virtual bool SolveMemory(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop, problem::Result& result) = 0;
};

using SessionOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                      const problem::Ladder*)>;

// Opens a session of an engine that does not support colocations, for a Problem that may have them.
// `open` receives the contracted Problem (contraction.h) if there is one, else `problem` itself;
// answers are expanded. If the colocated buffers contradict each other, the session answers
// kInfeasible in the name of `engine`.
std::unique_ptr<problem::Session> OpenContracted(std::string_view engine,
                                                 const problem::Problem& problem,
                                                 const problem::Ladder* ladder,
                                                 const SessionOpener& open);

}  // namespace tessera::search::allocate
