// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/pieces.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>

namespace tessera::explore {
namespace {

constexpr size_t kMostPieces = 10'000;

std::optional<size_t> ParsePieceNumber(std::string_view text) {
  size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::optional<Piece> ParsePiece(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<size_t> index = ParsePieceNumber(text.substr(0, slash));
  const std::optional<size_t> count = ParsePieceNumber(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count || *count > kMostPieces)
    return std::nullopt;
  return Piece{*index, *count};
}

std::vector<size_t> DivideParts(std::span<const double> costs, size_t count) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return costs[a] > costs[b]; });
  using Load = std::pair<double, size_t>;
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (size_t piece = 1; piece <= count; ++piece) loads.emplace(0.0, piece);
  std::vector<size_t> pieces(costs.size());
  for (const size_t part : order) {
    auto [load, piece] = loads.top();
    loads.pop();
    pieces[part] = piece;
    loads.emplace(load + costs[part], piece);
  }
  return pieces;
}

}  // namespace tessera::explore
