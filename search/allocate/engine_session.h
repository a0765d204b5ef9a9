#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// What the searches of this module leave to other engines, and how they say so.
namespace tessera::search::allocate {

// Whether some address that the Problem names, or the sum of its sizes, lies beyond kNoPosition
// (positions.h).
bool ReachesTooFar(const problem::Problem& problem);
// The same with other sizes, parallel to its buffers.
bool ReachesTooFar(const problem::Problem& problem, std::span<const problem::Bytes> sizes);

std::vector<problem::Bytes> SizesOf(const problem::Problem& problem);

enum class BankSupport { kNone, kWindows };

// The first requirement of the Problem that a search over offsets alone cannot honour, in words, or
// nullopt: rules, modes or ports that restrict some access, relations other than separate and
// exclusive, and, unless windows are supported, spans and allowed banks that narrow where a buffer
// may lie; addresses that reach too far. Requirements that restrict nothing are no obstacle.
std::optional<std::string> FindUnsupported(const problem::Problem& problem, BankSupport support);

// A mode of the memory under which every access of the Problem is allowed in every bank and no bank
// is off, so that staying in it for all time is right; nullopt when there is none. Needs a memory
// with modes.
std::optional<int> FindPermissiveMode(const problem::Problem& problem, int memory);

// Each memory's permissive mode at every step of the horizon; for memories without modes an empty
// schedule. Needs a Problem that FindUnsupported passes.
std::vector<problem::ModeSchedule> ConstantModes(const problem::Problem& problem);

// What the sessions of this module have in common: they turn away what their engine cannot answer,
// and see one Problem, that with the sizes of the candidate asked for.
class SizedSession : public problem::Session {
 public:
  problem::Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) final;

 protected:
  // `problem` and `ladder`, which may be null, outlive the session.
  SizedSession(std::string_view engine, BankSupport banks, const problem::Problem& problem,
               const problem::Ladder* ladder);

  // With the sizes of the candidate asked for; not to be used before the first Reopen.
  const problem::Problem& Sized() const { return *sized_; }

 private:
  // Forgets what rests on sizes: Sized() has changed.
  virtual void Reopen() = 0;
  // Fills in the answer about `capacity`; its engine stands there already.
  virtual void Answer(problem::Bytes capacity, const base::Budget& budget, const base::Stop& stop,
                      problem::Result& result) = 0;

  void OpenCandidate(size_t candidate);

  const std::string engine_;
  const BankSupport banks_;
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
  size_t candidate_ = 0;
  std::optional<problem::Problem> at_candidate_;  // none without a ladder
  const problem::Problem* sized_ = nullptr;       // none before the first call
};

using SessionOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                      const problem::Ladder*)>;

// A session of an engine that knows nothing of colocation, on a Problem that may have some: `open`
// is handed the contracted Problem (contraction.h) where there is one, else `problem` itself, and
// answers are expanded. A contradiction among the colocated buffers is kInfeasible by the name of
// `engine`.
std::unique_ptr<problem::Session> OpenContracted(std::string_view engine,
                                                 const problem::Problem& problem,
                                                 const problem::Ladder* ladder,
                                                 const SessionOpener& open);

}  // namespace tessera::search::allocate
