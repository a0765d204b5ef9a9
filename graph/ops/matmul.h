// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

#include "tessera/graph/ops/operator.h"

// The axes of a product of matrices. The product takes [..., rows, K] and [..., K, columns] and
// makes [..., rows, columns]; operands and result may have these axes in another order.
namespace tessera::graph::ops {

// The axis of an operand that is axis `axis` of the product's operand.
inline size_t StoredAxis(const Operator& op, size_t operand, size_t axis) {
  const std::vector<int>& axes = op.Own<MatmulAttributes>().operand_axes[operand];
  return axes.empty() ? axis : static_cast<size_t>(axes[axis]);
}

// The axis of the product that is axis `axis` of the result.
inline size_t ProductAxis(const Operator& op, size_t axis) {
  const std::vector<int>& axes = op.Own<MatmulAttributes>().result_axes;
  return axes.empty() ? axis : static_cast<size_t>(axes[axis]);
}

}  // namespace tessera::graph::ops
