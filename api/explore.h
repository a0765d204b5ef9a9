// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_EXPLORE_H_
#define TESSERA_EXPLORE_H_

#include <tessera/call.h>
#include <tessera/result.h>

#include <optional>
#include <string>
#include <string_view>

// Searches over hardware: which profiles of a space are best for some networks (docs/explore.md).
namespace tessera {
inline namespace v0 {

struct ExploreOptions : CallOptions {
  std::string store = {};               // SQLite file that keeps all answers; empty: none
  bool exhaustive = false;              // plan every pair, whatever is proven about it
  bool relax = false;                   // what each restriction and mode costs, instead of fronts
  std::string least = {};               // the least value of this entry, instead of fronts
  bool marginal = false;                // what a step of each axis changes along the fronts
  double uncertainty = 0;               // of areas: a fraction below 1
  std::optional<double> adaptive = {};  // plan this share of the pairs at most
};

struct ExploreAnswer {
  std::string json = {};  // the document of docs/explore.md; empty if a limit came first
  std::string text = {};  // as `tessera explore` prints it
  std::string csv = {};   // a row for each plan; empty without fronts
  std::string html = {};  // the page; empty without fronts
  bool stopped = false;   // a deadline or a cancellation came first; a store keeps what was found
};

// Answers a specification, a YAML file. Returns an error if the specification, a network or a
// profile cannot be read, if the store cannot be used, or if options contradict each other.
TESSERA_API Result<ExploreAnswer> Explore(const std::string& specification,
                                          const ExploreOptions& options = {});

// As Explore, for the text of a specification. Files that it names are relative to the folder of
// `name`, which is also used in messages.
TESSERA_API Result<ExploreAnswer> ExploreText(std::string_view yaml,
                                              const ExploreOptions& options = {},
                                              const std::string& name = "specification");

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_EXPLORE_H_
