#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "planner.h"
#include "tessera/base/random.h"
#include "tessera/plan/files/plan_draft.h"

// What an audit asks, counts and finds.
namespace tessera::audit {

// Further files of a case, by name.
using Files = std::map<std::string, std::string>;

// Something that must not be.
struct Finding {
  std::string kind;  // the same words for every finding of its sort: "optimal is beaten"
  std::string what;  // in one line, with the figures
  PlanRequest question;
  Files files;
  std::vector<std::string> commands;  // after that of the question
};

// Of one family of draws.
struct Tally {
  int64_t drawn = 0;
  std::map<std::string, int64_t> skipped;   // by reason
  std::map<std::string, int64_t> statuses;  // of answers, by name
  int64_t plans = 0;                        // handed out, and each checked
  std::map<std::string, int64_t> counts;    // what else the family counts

  int64_t Skipped() const;
};

// One check of one question at work. Questions go through it, so that every answer is counted and
// every plan checked.
class Run {
 public:
  explicit Run(Tally& tally) : tally_(tally) {}

  // Asks, counts the answer, and reports a fault of the program or a plan that some checker
  // refuses.
  Answer Ask(const PlanRequest& question, double seconds = 10);

  void Skip(const std::string& reason) { ++tally_.skipped[reason]; }
  void Count(const std::string& name, int64_t times = 1) { tally_.counts[name] += times; }
  void Report(Finding finding) { findings_.push_back(std::move(finding)); }

  const std::vector<Finding>& Findings() const { return findings_; }

 private:
  Tally& tally_;
  std::vector<Finding> findings_;
};

// How often something that a family counts must be so, of another: at least that share, where there
// are enough to tell.
struct Aim {
  std::string_view count;
  std::string_view of;
  double share;
};

struct Family {
  std::string_view name;
  std::string_view about;
  double share;  // of the time
  PlanRequest (*draw)(base::Random& random);
  // A pure function of the question and the seed, from which it draws whatever else it needs.
  void (*check)(const PlanRequest& question, uint64_t seed, Run& run);
  std::vector<Aim> aims = {};
};

// All of them.
const std::vector<Family>& Families();

// Everything that checkers of plans find wrong with a plan: validator, prices, execution, lowering,
// the way through plan.json.
std::vector<std::string> FaultsOf(const plan::Plan& plan);

// The plan's own draft.
plan::files::Draft DraftOf(const plan::Plan& plan);

}  // namespace tessera::audit
