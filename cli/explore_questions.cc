// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/explore_questions.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <string_view>

#include "tessera/explore/expression.h"

namespace tessera::cli {
namespace {

// "20%" and "0.2" are the same.
std::optional<double> ParseShare(std::string_view text) {
  const bool is_percent = text.ends_with('%');
  if (is_percent) text.remove_suffix(1);
  const std::optional<double> number = explore::ParseQuantity(text);
  return number && is_percent ? *number / 100 : number;
}

}  // namespace

void ExploreQuestions::Declare(CLI::App& app) {
  app.add_flag("--exhaustive", request_.plan_all, "Plan every pair, whatever is proven of it");
  const auto read = [](const std::string& option, const std::string& text) {
    const std::optional<double> share = ParseShare(text);
    if (!share) throw CLI::ValidationError(option, "expected a share, as 20% or 0.2");
    return *share;
  };
  app.add_option_function<std::string>(
      "--adaptive",
      [this, read](const std::string& text) { request_.adaptive = read("--adaptive", text); },
      "Plan this share of the pairs at most, the most promising ones, and state the gap (20%)");
  app.add_flag("--marginal", request_.marginal,
               "Say what one step of each axis changes along the fronts");
  app.add_option_function<std::string>(
      "--uncertainty",
      [this, read](const std::string& text) { request_.uncertainty = read("--uncertainty", text); },
      "Say which points stay on the fronts if areas of parts are wrong by up to this share (20%)");
  app.add_flag("--relax", request_.relax,
               "Drop each restriction and each mode of the base profiles alone, and say what that "
               "gains or proves; no fronts");
  app.add_option("--least", request_.least,
                 "Find the least value of this entry, as memories.sram.capacity_bytes, with which "
                 "the networks keep their limits; no fronts");
}

std::string ExploreQuestions::CheckRequest() const { return explore::FaultOf(request_); }

}  // namespace tessera::cli
