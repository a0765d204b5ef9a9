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

// Detects Problems that the searches of this module do not support, and describes why.
namespace tessera::search::allocate {

std::vector<problem::Bytes> SizesOf(const problem::Problem& problem);

enum class BankSupport { kNone, kWindows };
enum class DistanceSupport { kNone, kColocate };

// The first requirement of the Problem that a search over offsets alone cannot satisfy, in words,
// or nullopt. These are rules, modes or ports that restrict some access, relations other than
// separate and exclusive, and addresses that are too large. Unless windows are supported, also
// spans and allowed banks that restrict the positions of a buffer. Unless distances are supported,
// also colocate relations. Requirements that restrict nothing are accepted.
std::optional<std::string> FindUnsupported(const problem::Problem& problem, BankSupport banks,
                                           DistanceSupport distances = DistanceSupport::kNone);

// Adds a reason, if it is not empty, to a list of them in one text.
void AppendReason(std::string& reasons, const std::string& reason);

// The error in an answer with an allocation, if any: an error of the program, which names the
// engine.
std::optional<base::Diagnostic> CheckAnswer(std::string_view engine,
                                            const problem::Problem& problem,
                                            problem::Bytes capacity, const problem::Result& result);

// The common base of the sessions of this module. They refuse what their engine cannot answer, and
// see one Problem: that with the sizes of the requested candidate.
class SizedSession : public problem::Session {
 public:
  problem::Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) final;

 protected:
  // `problem` and `ladder` must outlive the session. `ladder` may be null.
  SizedSession(std::string_view engine, BankSupport banks, const problem::Problem& problem,
               const problem::Ladder* ladder, DistanceSupport distances = DistanceSupport::kNone);

  // Makes Sized() the Problem of the candidate. False, with status and reason, if there is no
  // answer to give: the engine does not support the Problem, there is no such candidate, or the
  // stop came.
  bool OpenCandidate(size_t candidate, const base::Stop& stop, problem::Result& result);

  // The Problem with the sizes of the requested candidate. Not valid before the first Reopen.
  const problem::Problem& Sized() const { return *sized_; }

 private:
  // Discards everything that depends on sizes: Sized() has changed.
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

  // Writes the offsets of a memory of this capacity into result.allocation, where fixed ones are in
  // place. False, with status and reason, if there is no answer. The budget is for all memories;
  // result.statistics has the work so far.
  virtual bool SolveMemory(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop, problem::Result& result) = 0;
};

using SessionOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                      const problem::Ladder*)>;

// A session for a Problem that may have colocations, of an engine that does not support them.
// `open` receives the contracted Problem (contraction.h) if there is one, else `problem` itself;
// answers are expanded. A contradiction among the colocated buffers gives kInfeasible in the name
// of `engine`.
std::unique_ptr<problem::Session> OpenContracted(std::string_view engine,
                                                 const problem::Problem& problem,
                                                 const problem::Ladder* ladder,
                                                 const SessionOpener& open);

}  // namespace tessera::search::allocate
