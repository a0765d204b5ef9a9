#pragma once

#include <optional>
#include <string>

#include "tessera/base/stop.h"
#include "tessera/cli/search_options.h"
#include "tessera/encoder/reasons/explain.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// A Problem that nothing satisfies within `capacity` bytes of its first memory, and why.
struct Collision {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  problem::Explanation explanation;

  std::string Summary() const;
  std::string Text(size_t indent) const;  // all its sentences, a line each, all but the first indented
};

// How commands explain infeasible answers.
class Reasons {
 public:
  void Declare(CLI::App& app);
  bool AreOff() const { return off_; }

  // Of a Problem that is proven infeasible; nullopt when the user wants no reasons. A ladder of which the problem has the sizes of
  // rung `rung` may be null.
  std::optional<Collision> Find(const problem::Problem& problem, problem::Bytes capacity,
                                const SearchOptions& search, const base::Stop& stop,
                                const problem::Ladder* ladder = nullptr, size_t rung = 0) const;

  // The same where it has yet to be seen, within the budget, whether the problem is infeasible; nullopt where it is not seen.
  std::optional<Collision> FindIfProven(const problem::Problem& problem, problem::Bytes capacity,
                                        const SearchOptions& search, const base::Stop& stop) const;

 private:
  bool off_ = false;
};

}  // namespace tessera::cli
