// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/least_squares.h"

#include <cmath>
#include <utility>

namespace tessera::search::fit {

double Dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Cholesky's method on the normal equations. A pivot that vanishes means that its column depends on
// earlier ones; its value is then 0.
Vector SolveLeastSquares(const Columns& columns, const Vector& target, double damping) {
  constexpr double kVanishes = 1e-12;
  const size_t count = columns.size();
  std::vector<Vector> lower(count, Vector(count, 0));
  Vector right(count);
  for (size_t i = 0; i < count; ++i) {
    right[i] = Dot(columns[i], target);
    for (size_t j = 0; j <= i; ++j) {
      double sum = Dot(columns[i], columns[j]);
      const double whole = sum;
      if (i == j) sum *= 1 + damping;
      for (size_t k = 0; k < j; ++k) sum -= lower[i][k] * lower[j][k];
      if (i != j) {
        lower[i][j] = lower[j][j] > 0 ? sum / lower[j][j] : 0;
      } else {
        lower[i][i] = sum > kVanishes * whole ? std::sqrt(sum) : 0;
      }
    }
  }
  Vector x(count, 0);
  for (size_t i = 0; i < count; ++i) {
    double sum = right[i];
    for (size_t k = 0; k < i; ++k) sum -= lower[i][k] * x[k];
    x[i] = lower[i][i] > 0 ? sum / lower[i][i] : 0;
  }
  for (size_t i = count; i-- > 0;) {
    double sum = x[i];
    for (size_t k = i + 1; k < count; ++k) sum -= lower[k][i] * x[k];
    x[i] = lower[i][i] > 0 ? sum / lower[i][i] : 0;
  }
  return x;
}

double OwnShare(const Columns& columns, size_t column) {
  const double length = Dot(columns[column], columns[column]);
  if (length == 0) return 0;
  Columns others = columns;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(column));
  const Vector x = SolveLeastSquares(others, columns[column], 0);
  Vector rest = columns[column];
  for (size_t i = 0; i < others.size(); ++i) {
    for (size_t row = 0; row < rest.size(); ++row) rest[row] -= x[i] * others[i][row];
  }
  return std::sqrt(Dot(rest, rest) / length);
}

Columns DerivativesAt(const std::function<Vector(const Vector&)>& residuals, const Vector& point,
                      const Vector& here, const Vector& steps) {
  Columns columns;
  for (size_t i = 0; i < point.size(); ++i) {
    Vector moved = point;
    moved[i] += steps[i];
    Vector there = residuals(moved);
    if (there.empty()) return {};
    for (size_t row = 0; row < there.size(); ++row)
      there[row] = (there[row] - here[row]) / steps[i];
    columns.push_back(std::move(there));
  }
  return columns;
}

Minimum Minimise(const std::function<Vector(const Vector&)>& residuals, Vector start,
                 const Vector& steps, const std::function<void(Vector&)>& clip, int rounds) {
  constexpr double kMostDamping = 1e6;
  constexpr double kEnough = 1e-7;  // of the sum, for one step
  Vector here = residuals(start);
  if (here.empty()) return {std::move(start), {}, false};
  double sum = Dot(here, here);
  double damping = 1e-3;
  for (int round = 0; round < rounds && damping < kMostDamping; ++round) {
    const Columns columns = DerivativesAt(residuals, start, here, steps);
    if (columns.empty() && !start.empty()) return {std::move(start), std::move(here), false};
    bool helped = false;
    double before = sum;
    while (!helped && damping < kMostDamping) {
      const Vector change = SolveLeastSquares(columns, here, damping);
      Vector next = start;
      for (size_t i = 0; i < next.size(); ++i) next[i] -= change[i];
      clip(next);
      Vector there = residuals(next);
      if (there.empty()) return {std::move(start), std::move(here), false};
      const double less = Dot(there, there);
      helped = less < sum;
      damping = helped ? damping / 10 : damping * 10;
      if (!helped) continue;
      start = std::move(next);
      here = std::move(there);
      sum = less;
    }
    if (before - sum <= kEnough * before) break;
  }
  return {std::move(start), std::move(here), true};
}

}  // namespace tessera::search::fit
