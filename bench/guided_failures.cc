// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/bench/guided_inputs.h"
#include "tessera/search/engines/guided/learned_backtracking.h"

namespace tessera::bench {

using search::engines::guided::Backtracking;
using search::engines::guided::GuidedEngine;
using search::engines::guided::GuidedOptions;
using search::engines::guided::LearnedBacktracking;
using search::engines::guided::MajorBacktrack;

namespace {

// Compares decided answers with those of the whole engine: how many there are, and the geometric
// mean of the ratios of steps.
class Comparison {
 public:
  void Note(const GuidedAnswer& answer, const GuidedAnswer& whole) {
    if (!answer.Decided() || !whole.Decided()) return;
    ++both_;
    logarithms_ += std::log(static_cast<double>(answer.result.statistics.nodes) /
                            static_cast<double>(whole.result.statistics.nodes));
  }
  int Both() const { return both_; }
  double Ratio() const { return std::exp(logarithms_ / std::max(both_, 1)); }

 private:
  int both_ = 0;
  double logarithms_ = 0;
};

}  // namespace

void PrintGuidedFailures(const GuidedSettings& settings) {
  const std::vector<GuidedInput> inputs = DrawGuidedInputs(settings.seeds, false);
  std::printf("at most %lld steps and %.0f s each\n%-15s %8s %9s %19s\n",
              static_cast<long long>(settings.steps), settings.seconds, "", "failures", "seconds",
              "steps / whole (on)");
  std::vector<GuidedAnswer> whole;
  std::vector<GuidedVariant> variants = AllGuidedVariants();
  for (GuidedVariant& variant : variants) {
    const std::string& wanted = settings.data.engine;
    if (!whole.empty() && !wanted.empty() && wanted != variant.name) continue;
    variant.options.most_steps = settings.steps;
    std::map<std::string, int> failed;
    Comparison comparison;
    double seconds = 0;
    int failures = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const GuidedAnswer answer = AskEngine(GuidedEngine(variant.options), inputs[i].problem,
                                            inputs[i].capacity, settings.seconds);
      if (!answer.Decided()) ++failures, ++failed[inputs[i].family];
      seconds += answer.seconds;
      if (whole.size() == i) whole.push_back(answer);
      comparison.Note(answer, whole[i]);
    }
    std::printf("%-15s %8d %9.1f %12.2f (%4d)  ", variant.name.c_str(), failures, seconds,
                comparison.Ratio(), comparison.Both());
    for (const auto& [family, count] : failed) std::printf(" %s: %d", family.c_str(), count);
    std::printf("\n");
  }
}

namespace {

constexpr int64_t kMany = 1000;  // dead ends without learning: a hard input

// A control: picks an arbitrary target, by a number computed from the state.
std::optional<int> PickSomeTarget(const MajorBacktrack& backtrack) {
  size_t number = backtrack.buffers.size();
  for (const problem::Bytes offset : backtrack.offsets)
    number = number * 31 + static_cast<size_t>(offset);
  return backtrack.targets[number / 7 % backtrack.targets.size()].point;
}

// Wins and losses of a policy against the default, by dead ends.
struct Score {
  int hard = 0, improved = 0, tenth = 0, failed = 0, rescued = 0, lost = 0, tenfold = 0;
  Comparison steps;
  double seconds = 0;

  void Note(const GuidedAnswer& without, const GuidedAnswer& with) {
    const int64_t before = without.result.statistics.backtracks;
    const int64_t after = with.result.statistics.backtracks;
    const bool both = without.Decided() && with.Decided();
    seconds += with.seconds;
    failed += with.Decided() ? 0 : 1;
    rescued += with.Decided() && !without.Decided() ? 1 : 0;
    lost += without.Decided() && !with.Decided() ? 1 : 0;
    tenfold += both && after > 10 * std::max<int64_t>(before, 10) ? 1 : 0;
    if (before <= kMany) return;
    ++hard;
    improved += with.Decided() && (!without.Decided() || after < before) ? 1 : 0;
    tenth += both && 10 * after <= before ? 1 : 0;
    steps.Note(with, without);
  }
};

struct Policy {
  const char* name;
  Backtracking backtracking;
  bool insured;
};

void PrintScores(const char* rules, GuidedOptions options, const GuidedSettings& settings,
                 const std::vector<GuidedInput>& inputs) {
  std::vector<GuidedAnswer> without;
  for (const auto& [name, backtracking, insured] :
       {Policy{"default", {}, false}, Policy{"learned", LearnedBacktracking(), false},
        Policy{"learned, insured", LearnedBacktracking(), true},
        Policy{"some target", PickSomeTarget, false}}) {
    options.backtracking = backtracking;
    options.insured = insured;
    options.most_steps = settings.steps;
    Score score;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const GuidedAnswer answer =
          AskEngine(GuidedEngine(options), inputs[i].problem, inputs[i].capacity, settings.seconds);
      if (without.size() == i) without.push_back(answer);
      score.Note(without[i], answer);
    }
    std::printf("%-9s %-16s %8d %5d %9d %9d %8d %5d %9d %7.2f (%3d) %8.1f\n", rules, name,
                score.failed, score.hard, score.improved, score.tenth, score.rescued, score.lost,
                score.tenfold, score.steps.Ratio(), score.steps.Both(), score.seconds);
  }
}

}  // namespace

// Each policy is compared with the default one under the same rules.
void PrintGuidedLearning(const GuidedSettings& settings) {
  const std::vector<GuidedInput> inputs = DrawGuidedInputs(settings.seeds, true);
  std::printf(
      "families not trained on; at most %lld steps and %.0f s each; hard: more than %lld dead ends "
      "with the default policy\n%-26s %8s %5s %9s %9s %8s %5s %9s %13s %8s\n",
      static_cast<long long>(settings.steps), settings.seconds, static_cast<long long>(kMany), "",
      "failures", "hard", "improved", "to 1/10", "rescued", "lost", "10 worse", "steps (hard)",
      "seconds");
  const std::string& wanted = settings.data.engine;
  for (const char* rules : {"guided", "published", "- lessons"}) {
    if (!wanted.empty() && wanted != rules) continue;
    for (const GuidedVariant& variant : AllGuidedVariants()) {
      if (variant.name == rules) PrintScores(rules, variant.options, settings, inputs);
    }
  }
}

}  // namespace tessera::bench
