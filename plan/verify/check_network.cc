// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"

namespace tessera::plan::verify {
namespace {

// Beyond this limit a plan is refused: sums over tiles could exceed 64 bits.
constexpr int64_t kMostElements = int64_t{1} << 40;

class NetworkCheck {
 public:
  NetworkCheck(const graph::Graph& network, Findings& findings)
      : network_(network), findings_(findings) {}

  void Run() {
    CheckShapes();
    CheckStates();
    if (NamesTensors()) CheckMakers();
  }

 private:
  const graph::Tensor& At(int tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)];
  }

  void CheckShapes() {
    for (const graph::Tensor& tensor : network_.tensors) {
      int64_t elements = 1;
      for (const int64_t extent : tensor.shape) {
        elements = extent < 1 ? 0 : base::CheckedMul(elements, extent).value_or(0);
      }
      if (elements >= 1 && elements <= kMostElements) continue;
      findings_.Note(
          ViolationKind::kNetwork,
          fmt::format("tensor '{}' has a shape of [{}]", tensor.id, fmt::join(tensor.shape, ", ")));
    }
  }

  void CheckStates() {
    for (const graph::Tensor& tensor : network_.tensors) {
      const bool of_state =
          tensor.next_of < 0 || (HasTensor(network_, tensor.next_of) && At(tensor.next_of).state);
      if (!of_state || (tensor.next_of >= 0 && !tensor.network_output))
        findings_.Note(ViolationKind::kNetwork,
                       fmt::format("tensor '{}' follows no state", tensor.id));
    }
  }

  // Whether all operands and results of the operators are tensors.
  bool NamesTensors() {
    for (const graph::Operator& op : network_.operators) {
      for (const auto* list : {&op.inputs, &op.weights, &op.outputs}) {
        if (!std::all_of(list->begin(), list->end(),
                         [&](int tensor) { return HasTensor(network_, tensor); })) {
          findings_.Note(ViolationKind::kNetwork,
                         fmt::format("operator '{}' names no tensor", op.id));
          return false;
        }
      }
      if (op.outputs.empty()) {
        findings_.Note(ViolationKind::kNetwork, fmt::format("operator '{}' makes nothing", op.id));
      }
    }
    return true;
  }

  // An operator may read only tensors that are made before it. Each tensor except state is made
  // once.
  void CheckMakers() {
    std::vector<int> maker(network_.tensors.size(), -1);
    for (size_t i = 0; i < network_.operators.size(); ++i) {
      for (const int output : network_.operators[i].outputs) {
        int& first = maker[static_cast<size_t>(output)];
        const graph::Tensor& tensor = At(output);
        if ((first >= 0 && !tensor.state) || tensor.constant || tensor.network_input) {
          findings_.Note(ViolationKind::kNetwork,
                         fmt::format("tensor '{}' may not be made here", tensor.id));
        }
        first = static_cast<int>(i);
      }
    }
    for (size_t i = 0; i < network_.operators.size(); ++i) {
      for (const int input : network_.operators[i].inputs) {
        const graph::Tensor& tensor = At(input);
        if (tensor.state || maker[static_cast<size_t>(input)] < static_cast<int>(i)) continue;
        findings_.Note(ViolationKind::kNetwork,
                       fmt::format("operator '{}' reads '{}' before it is made",
                                   network_.operators[i].id, tensor.id));
      }
    }
  }

  const graph::Graph& network_;
  Findings& findings_;
};

}  // namespace

bool HasTensor(const graph::Graph& network, int tensor) {
  return tensor >= 0 && static_cast<size_t>(tensor) < network.tensors.size();
}

void CheckNetwork(const graph::Graph& network, Findings& findings) {
  NetworkCheck(network, findings).Run();
}

}  // namespace tessera::plan::verify
