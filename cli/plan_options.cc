// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/plan_options.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/api/parts/memories.h"
#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/network_options.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

namespace tessera::cli {

namespace {

base::Diagnostic OptionFault(std::string message, std::string expected, std::string hint = "") {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<std::string> ParseMetric(const std::string& option, const std::string& name) {
  const std::vector<std::string_view> names = plan::MetricNames();
  if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  return tl::unexpected(OptionFault(fmt::format("{}: there is no metric '{}'", option, name),
                                    "one of " + base::Join(names), base::DidYouMean(name, names)));
}

// Parses "latency=0.4,energy=0.6". A limit may be 0, a weight must not.
base::Expected<std::map<std::string, double>> ParseNumbers(const std::string& option,
                                                           const std::string& text,
                                                           bool may_be_zero) {
  std::map<std::string, double> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    begin = end + 1;
    const size_t equals = part.find('=');
    const base::Expected<std::string> metric = ParseMetric(option, part.substr(0, equals));
    if (!metric) return tl::unexpected(metric.error());
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    const std::optional<double> number = ParseDecimal(value);
    if (!number || *number < 0 || (*number == 0 && !may_be_zero)) {
      const std::string_view fault = !number       ? "gives no number"
                                     : *number < 0 ? "gives a negative number"
                                                   : "gives 0";
      return tl::unexpected(OptionFault(
          fmt::format("{}: '{}' {} for {}", option, part, fault, *metric),
          fmt::format("{}=NUMBER, {}", *metric, may_be_zero ? "from 0 up" : "above 0")));
    }
    if (*number != 0 && (*number < api::parts::kLeastWeight || *number > api::parts::kMostWeight)) {
      return tl::unexpected(
          OptionFault(fmt::format("{}: the number in '{}' is out of range", option, part),
                      fmt::format("{} to {}", api::parts::kLeastWeight, api::parts::kMostWeight)));
    }
    if (!numbers.emplace(*metric, *number).second) {
      return tl::unexpected(
          OptionFault(fmt::format("{}: {} is given twice", option, *metric), "each metric once"));
    }
  }
  return numbers;
}

}  // namespace

std::string HelpOnMetrics() {
  std::string metrics;
  std::string ratios;
  for (const plan::Metric& metric : plan::kMetrics) {
    metrics += fmt::format("{}{} ({})", metrics.empty() ? "" : ", ", metric.name, metric.unit);
    if (metric.joining == plan::Joining::kRatio)
      ratios += fmt::format("{}{}", ratios.empty() ? "" : ", ", metric.name);
  }
  std::string help = fmt::format("Metrics: {}.", metrics);
  if (!ratios.empty())
    help += fmt::format(
        "\nA ratio over time ({}) falls as the latency rises; alone it needs a limit on the "
        "latency.",
        ratios);
  return help;
}

base::Expected<plan::Objective> ParseObjective(const std::string& minimize,
                                               const std::string& score,
                                               const std::string& limits) {
  plan::Objective objective;
  if (!score.empty()) {
    const auto weights = ParseNumbers("--score", score, false);
    if (!weights) return tl::unexpected(weights.error());
    objective.weights = *weights;
  } else {
    const base::Expected<std::string> metric =
        ParseMetric("--minimize", minimize.empty() ? "latency" : minimize);
    if (!metric) return tl::unexpected(metric.error());
    objective.weights[*metric] = 1;
  }
  if (!limits.empty()) {
    const auto most = ParseNumbers("--limit", limits, true);
    if (!most) return tl::unexpected(most.error());
    objective.limits = *most;
  }
  if (const auto fault = search::cost::CheckObjective(objective)) return tl::unexpected(*fault);
  return objective;
}

namespace {

using plan::PlanConstraint;
using plan::PlanConstraintKind;

// Constraints with the words on the command line that state them.
class WordReader {
 public:
  explicit WordReader(const graph::Graph& network) : network_(network) {}

  void AddTogether(const std::string& words) {
    Add("--together", words, api::parts::ParseInterval(words, network_, "--together"),
        [](graph::Interval interval) {
          return PlanConstraint{.kind = PlanConstraintKind::kTogether,
                                .interval = interval,
                                .config = {},
                                .memory = {}};
        });
  }

  void AddApart(const std::string& id) {
    Add("--apart", id, api::parts::ParseOperator(id, network_, "--apart"), [](int op) {
      return PlanConstraint{
          .kind = PlanConstraintKind::kApart, .interval = {op, op}, .config = {}, .memory = {}};
    });
  }

  void AddStay(const char* option, PlanConstraintKind kind, const std::string& id) {
    Add(option, id, search::partition::constraints::LookUpTensor(network_, id), [kind](int tensor) {
      return PlanConstraint{
          .kind = kind, .interval = {}, .tensor = tensor, .config = {}, .memory = {}};
    });
  }

  // Appends them to the constraints of a file, which have no fault among themselves.
  base::Expected<std::vector<PlanConstraint>> Join(std::vector<PlanConstraint> constraints,
                                                   const hw_profiles::Profile& profile,
                                                   std::optional<int> max_operators) {
    if (fault_) return base::Unexpected(*fault_);
    const size_t before = constraints.size();
    constraints.insert(constraints.end(), constraints_.begin(), constraints_.end());
    const auto fault = search::partition::constraints::CheckWellFormed(network_, profile,
                                                                       constraints, max_operators);
    if (!fault) return constraints;
    return base::Unexpected(Said(words_[fault->constraint - before], fault->diagnostic));
  }

 private:
  template <typename Found, typename Make>
  void Add(const char* option, const std::string& words, const base::Expected<Found>& found,
           Make make) {
    words_.push_back(fmt::format("{} {}", option, words));
    if (found) {
      constraints_.push_back(make(*found));
    } else if (!fault_) {
      fault_ = Said(words_.back(), found.error());
    }
  }

  static base::Diagnostic Said(const std::string& words, base::Diagnostic fault) {
    if (!fault.message.starts_with(words))
      fault.message = fmt::format("{}: {}", words, fault.message);
    return fault;
  }

  const graph::Graph& network_;
  std::vector<PlanConstraint> constraints_;
  std::vector<std::string> words_;  // parallel, as long as there is no fault
  std::optional<base::Diagnostic> fault_;
};

}  // namespace

void ConstraintOptions::Declare(CLI::App& app) {
  app.add_option(
      "--constraints", file_,
      "What the plan must keep to, in YAML: docs/constraints.md; - reads standard input");
  app.add_option("--together", together_,
                 "FIRST..LAST: these operators run in one subgraph, perhaps with others")
      ->allow_extra_args(false);
  app.add_option("--apart", apart_, "OPERATOR: a subgraph begins with it")->allow_extra_args(false);
  app.add_option("--keep", kept_, "TENSOR: it stays on chip, inside a subgraph or between them")
      ->allow_extra_args(false);
  app.add_option("--spill", spilled_,
                 "TENSOR: it goes home where it passes from one subgraph to another")
      ->allow_extra_args(false);
}

base::Expected<std::vector<PlanConstraint>> ConstraintOptions::Load(
    const graph::Graph& network, const hw_profiles::Profile& profile,
    std::optional<int> max_operators) const {
  std::vector<PlanConstraint> constraints;
  if (!file_.empty()) {
    const base::Expected<std::string> text = base::ReadInput(file_);
    if (!text) return base::Unexpected(text.error());
    const std::string name = file_ == "-" ? "standard input" : file_;
    base::Expected<std::vector<PlanConstraint>> read =
        search::partition::constraints::ReadConstraints(*text, name, network, profile,
                                                        max_operators);
    if (!read) return read;
    constraints = *std::move(read);
  }
  WordReader words(network);
  for (const std::string& each : together_) words.AddTogether(each);
  for (const std::string& each : apart_) words.AddApart(each);
  for (const std::string& each : kept_) words.AddStay("--keep", PlanConstraintKind::kKeep, each);
  for (const std::string& each : spilled_)
    words.AddStay("--spill", PlanConstraintKind::kSpill, each);
  return words.Join(std::move(constraints), profile, max_operators);
}

}  // namespace tessera::cli
