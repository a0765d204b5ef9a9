#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/problem/engine.h"
#include "tessera/search/allocate/constraints.h"

namespace tessera::search {

// What the sessions of this room have in common: they turn away what their engine cannot answer, and see one
// Problem, that with the sizes of the rung asked for.
class SizedSession : public problem::Session {
 public:
  problem::Result Solve(size_t rung, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) final;

 protected:
  // `problem` and `ladder`, which may be null, outlive the session.
  SizedSession(std::string_view engine, BankSupport banks, const problem::Problem& problem,
               const problem::Ladder* ladder);

  // With the sizes of the rung asked for; not to be used before the first Reopen.
  const problem::Problem& Sized() const { return *sized_; }

 private:
  // Forgets what rests on sizes: Sized() has changed.
  virtual void Reopen() = 0;
  // Fills in the answer about `capacity`; its engine stands there already.
  virtual void Answer(problem::Bytes capacity, const base::Budget& budget, const base::Stop& stop,
                      problem::Result& result) = 0;

  void OpenRung(size_t rung);

  const std::string engine_;
  const BankSupport banks_;
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
  size_t rung_ = 0;
  std::optional<problem::Problem> at_rung_;  // none without a ladder
  const problem::Problem* sized_ = nullptr;  // none before the first call
};

}  // namespace tessera::search
