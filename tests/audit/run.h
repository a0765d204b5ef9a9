// SPDX-License-Identifier: Apache-2.0

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

// The questions, counts and findings of an audit.
namespace tessera::audit {

// Further files of a case, by name.
using Files = std::map<std::string, std::string>;

// A violation.
struct Finding {
  std::string kind;  // the same words for every finding of its sort: "optimal is beaten"
  std::string what;  // in one line, with the figures
  PlanRequest question;
  Files files;
  std::vector<std::string> commands;  // after that of the question
};

// The counts of one family of draws.
struct Tally {
  int64_t drawn = 0;
  std::map<std::string, int64_t> skipped;   // by reason
  std::map<std::string, int64_t> statuses;  // of answers, by name
  int64_t plans = 0;                        // returned, and each checked
  std::map<std::string, int64_t> counts;    // other counts of the family

  int64_t Skipped() const;
};

// One check of one question. All questions of the check go through it, so that every answer is
// counted and every plan checked.
class Run {
 public:
  explicit Run(Tally& tally) : tally_(tally) {}

  // Plans, counts the answer, and reports a fault of the program or a plan that some checker
  // refuses.
  Answer Ask(const PlanRequest& question, double seconds = 10);

  void Skip(const std::string& reason) { ++tally_.skipped[reason]; }
  void Count(const std::string& name, int64_t times = 1) { tally_.counts[name] += times; }
  void Report(Finding finding) { findings_.push_back(std::move(finding)); }

  const std::vector<Finding>& Findings() const { return findings_; }

 private:
  void CountForm(std::string_view note);

  Tally& tally_;
  std::vector<Finding> findings_;
};

// A required frequency: the least share of one count in another, where there are enough cases.
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
  // A pure function of the question and the seed. It draws all other values from the seed.
  void (*check)(const PlanRequest& question, uint64_t seed, Run& run);
  std::vector<Aim> aims = {};
};

// All families.
const std::vector<Family>& Families();

// All faults that checkers find in a plan: validator, prices, execution, lowering, and writing and
// reading of plan.json.
std::vector<std::string> FaultsOf(const plan::Plan& plan);

// The plan's own draft.
plan::files::Draft DraftOf(const plan::Plan& plan);

}  // namespace tessera::audit
