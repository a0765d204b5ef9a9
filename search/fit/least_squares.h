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

// The x with the least |sum x_i column_i - target|^2 + sum damping * |column_i|^2 x_i^2. Columns
// that depend on each other share what they explain.
Vector SolveLeastSquares(const Columns& columns, const Vector& target, double damping);

// The share of a column's length that the other columns cannot explain, from 0 to 1; 0 for a
// column of zeros.
double OwnShare(const Columns& columns, size_t column);

struct Minimum {
  Vector point;
  Vector residuals;         // at the point; empty if it was not evaluated
  bool is_complete = true;  // no evaluation ended the search
};

// The smallest sum of squares of `residuals` near `start`, by the method of Levenberg and
// Marquardt with numerical derivatives: a step of Gauss and Newton, damped more after each step
// that does not help. `clip` puts a point back where values are allowed. `steps` are the widths of
// the derivatives. At most `rounds` steps; calls are counted as one for each evaluation. An
// evaluation that returns no residuals ends the search with the best point so far.
Minimum Minimise(const std::function<Vector(const Vector&)>& residuals, Vector start,
                 const Vector& steps, const std::function<void(Vector&)>& clip, int rounds);

// The columns of derivatives at a point.
Columns DerivativesAt(const std::function<Vector(const Vector&)>& residuals, const Vector& point,
                      const Vector& here, const Vector& steps);

}  // namespace tessera::search::fit
