// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::search::fit {

using Vector = std::vector<double>;

// Columns of equal length.
using Columns = std::vector<Vector>;

double Dot(const Vector& a, const Vector& b);

// Returns the x with the least |sum x_i column_i - target|^2 + sum damping * |column_i|^2 x_i^2.
// With damping, columns that depend on each other share their part of the target; without, columns
// that depend on earlier ones have x_i = 0.
Vector SolveLeastSquares(const Columns& columns, const Vector& target, double damping);

// Returns the share of a column's length that the other columns cannot explain, from 0 to 1; 0 for
// a column of zeros.
double OwnShare(const Columns& columns, size_t column);

struct Minimum {
  Vector point;
  Vector residuals;         // at the point; empty if it was not evaluated
  bool is_complete = true;  // false: an evaluation without residuals ended the search
};

// Finds a local minimum of the sum of squares of `residuals` near `start`, by the method of
// Levenberg and Marquardt with numerical derivatives: steps of Gauss and Newton, with more damping
// after each step that does not help. `clip` moves a point to allowed values. `steps` are the
// widths of the numerical derivatives. Makes at most `rounds` steps that help. An evaluation that
// returns no residuals ends the search with the best point so far.
Minimum Minimise(const std::function<Vector(const Vector&)>& residuals, Vector start,
                 const Vector& steps, const std::function<void(Vector&)>& clip, int rounds);

// Returns the derivatives at a point, a column for each coordinate; none if an evaluation returns
// no residuals. `here` are the residuals at the point, `steps` the widths.
Columns DerivativesAt(const std::function<Vector(const Vector&)>& residuals, const Vector& point,
                      const Vector& here, const Vector& steps);

}  // namespace tessera::search::fit
