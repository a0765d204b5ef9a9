// SPDX-License-Identifier: Apache-2.0

#include "tessera/report/text_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "tessera/base/text.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::report {
namespace {

bool IsNumber(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789 .-%") == std::string::npos;
}

}  // namespace

void Table::Add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = base::Printable(cell);
  rows_.push_back(std::move(row));
}

std::string Table::Text() const {
  const size_t columns = rows_.front().size();
  std::vector<size_t> widths(columns, 0);
  std::vector<bool> numeric(columns, true);
  for (size_t row = 0; row < rows_.size(); ++row) {
    for (size_t column = 0; column < columns; ++column) {
      const std::string& cell = rows_[row][column];
      widths[column] = std::max(widths[column], cell.size());
      if (row > 0 && !cell.empty() && !IsNumber(cell)) numeric[column] = false;
    }
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (size_t column = 0; column < columns; ++column) {
      const std::string pad(widths[column] - row[column].size(), ' ');
      line += (column == 0 ? "" : "  ") + (numeric[column] ? pad + row[column] : row[column] + pad);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string Grouped(int64_t number) {
  const std::string digits = std::to_string(number);
  const size_t sign = number < 0 ? 1 : 0;
  std::string text;
  for (size_t at = 0; at < digits.size(); ++at) {
    if (at > sign && (digits.size() - at) % 3 == 0) text += ' ';
    text += digits[at];
  }
  return text;
}

std::string Rounded(double number) {
  constexpr double kMost = 1e18;  // what an integer holds
  return std::abs(number) < kMost ? Grouped(std::llround(number)) : fmt::format("{:.4g}", number);
}

std::string Figure(const plan::Metric& metric, double value) {
  const bool is_rate = metric.joining == plan::Joining::kRatio ||
                       (metric.joining == plan::Joining::kMaximum &&
                        std::holds_alternative<double plan::Metrics::*>(metric.value));
  return is_rate ? fmt::format("{:.4g}", value) : Rounded(value);
}

std::string NameOfInterval(const graph::Graph& network, graph::Interval interval) {
  const auto id = [&](int op) { return network.operators[static_cast<size_t>(op)].id; };
  const auto [first, last] = interval;
  return first == last ? id(first) : id(first) + ".." + id(last);
}

std::string ShapeText(std::span<const int64_t> shape) {
  std::string text;
  for (const int64_t extent : shape) text += (text.empty() ? "" : "x") + std::to_string(extent);
  return text;
}

std::string PolicyText(hw_profiles::WeightPolicy weights, bool in_place,
                       hw_profiles::HaloStorage halo, int64_t k_extent, bool serialized) {
  std::string text(NameOf(weights));
  if (k_extent > 0) text += fmt::format(" {}", k_extent);
  if (in_place) text += ", in place";
  if (halo != hw_profiles::HaloStorage::kRecompute) text += fmt::format(", halo {}", NameOf(halo));
  if (serialized) text += ", serialized";
  return text;
}

namespace {

std::string PrefetchText(const plan::Subgraph& subgraph) {
  const std::vector<int>& prefetch = subgraph.prefetch;
  if (prefetch.empty()) return "";
  const auto late = std::count(prefetch.begin(), prefetch.end(), 0);
  std::string text =
      plan::verify::TakesSlicesAhead(subgraph) ? ", first slices prefetched" : ", prefetched";
  if (late > 0) text += fmt::format(" to {}/{}", prefetch.size() - late, prefetch.size());
  if (prefetch.front() > 1) text += fmt::format(" {} ahead", prefetch.front());
  return text;
}

}  // namespace

std::string PolicyText(const plan::Subgraph& subgraph) {
  return PolicyText(subgraph.weights, subgraph.in_place, subgraph.halo, subgraph.k_extent,
                    subgraph.serialized) +
         (subgraph.second_stage > 0 ? ", two stages" : "") + PrefetchText(subgraph);
}

}  // namespace tessera::report
