#pragma once

#include <optional>

#include "tessera/base/stop.h"
#include "tessera/cli/search_options.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/report/refusal_text.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The explanation of infeasible answers, shared by commands.
class Reasons {
 public:
  void Declare(CLI::App& app);
  bool AreOff() const { return off_; }

  // The conflict of a Problem that is proven infeasible; nullopt if the user wants no reasons.
  // `ladder` may be null; else the problem has the sizes of its candidate `candidate`.
  std::optional<report::Collision> Find(const problem::Problem& problem, problem::Bytes capacity,
                                        const SearchOptions& search, const base::Stop& stop,
                                        const problem::Ladder* ladder = nullptr,
                                        size_t candidate = 0) const;

  // The same if it is not yet known whether the problem is infeasible; nullopt if that is not
  // proven within the budget.
  std::optional<report::Collision> FindIfProven(const problem::Problem& problem,
                                                problem::Bytes capacity,
                                                const SearchOptions& search,
                                                const base::Stop& stop) const;

 private:
  bool off_ = false;
};

}  // namespace tessera::cli
