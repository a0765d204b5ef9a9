#include "tessera/cli/objective.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "tessera/base/suggest.h"
#include "tessera/cli/numbers.h"

namespace tessera::cli {
namespace {

// Sums and quotients of such numbers and of metrics stay far within what a double holds.
constexpr double kLeastNumber = 1e-100;
constexpr double kMostNumber = 1e100;

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

// "latency=0.4,energy=0.6". A limit may be 0, a weight not.
base::Expected<std::map<std::string, double>> ParseNumbers(const std::string& option, const std::string& text,
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
      return tl::unexpected(
          OptionFault(fmt::format("{}: '{}' gives no number for {}", option, part, *metric),
                      fmt::format("{}=NUMBER, {}", *metric, may_be_zero ? "from 0 up" : "above 0")));
    }
    if (*number != 0 && (*number < kLeastNumber || *number > kMostNumber)) {
      return tl::unexpected(OptionFault(fmt::format("{}: the number in '{}' is out of range", option, part),
                                        fmt::format("{} to {}", kLeastNumber, kMostNumber)));
    }
    if (!numbers.emplace(*metric, *number).second) {
      return tl::unexpected(
          OptionFault(fmt::format("{}: {} is given twice", option, *metric), "each metric once"));
    }
  }
  return numbers;
}

}  // namespace

base::Expected<plan::Objective> ParseObjective(const std::string& minimize, const std::string& score,
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
  return objective;
}

}  // namespace tessera::cli
