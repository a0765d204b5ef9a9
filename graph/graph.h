#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/vocabulary.h"

// A computation graph: operators in a topological order, and the tensors that pass between them. Extents are
// elements.
namespace tessera::graph {

// Feature maps are [batch, channels, rows, columns]; sequences [batch, rows, channels]; matrices [rows,
// channels]; vectors [channels]. Other ranks have no named axes and are never cut.
using Shape = std::vector<int64_t>;

struct Tensor {
  std::string id;  // unique within the graph
  Shape shape;
  base::DataType type = base::DataType::kInt8;
  bool network_input = false;
  bool network_output = false;
  bool constant = false;  // weights and tables
  bool state = false;     // handed in like a network input, yet lives for all program time
  std::map<std::string, std::string> annotations;  // the user's own keys with their text
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// The window of a convolution or pooling along rows [0] and columns [1].
struct Window {
  std::array<int64_t, 2> kernel = {1, 1};
  std::array<int64_t, 2> stride = {1, 1};
  std::array<int64_t, 2> dilation = {1, 1};
  std::array<int64_t, 2> pad_low = {0, 0};   // above, left
  std::array<int64_t, 2> pad_high = {0, 0};  // below, right
  friend bool operator==(const Window&, const Window&) = default;
};

enum class ResizeMode : uint8_t { kNearest, kBilinear };

// Shapes by kind: convolutions, pools and resizes work on [batch, channels, rows, columns]; a global pool
// gives [batch, channels, 1, 1] or [batch, channels]; a matmul multiplies the last two axes, leading axes
// broadcast; elementwise operands are aligned at the right and broadcast where their extent is 1.
struct Operator {
  std::string id;  // unique among operators
  base::OperatorKind kind = base::OperatorKind::kOpaque;
  std::vector<int> inputs;  // feature tensors, in order
  // Constants. First of a conv or depthwise: [output channels, input channels / groups, kernel rows, kernel
  // columns], of a matmul with one input: [depth, columns]; further ones, and those of other kinds, broadcast
  // to the output or are tables.
  std::vector<int> weights;
  std::vector<int> outputs;       // one, but for opaque operators
  Window window;                  // kConv, kDepthwise, kPool
  int64_t groups = 1;             // kConv; for kDepthwise always the input channels, and not read here
  int64_t macs = 0;               // kOpaque: as its author states
  int axis = 0;                   // kConcat, kSoftmax, kLayerNorm: an index into the output's shape
  std::vector<int> permutation;   // kTranspose: output axis i is input axis permutation[i]
  bool transpose_second = false;  // kMatmul with two feature operands: the second is [columns, depth]
  ResizeMode resize_mode =
      ResizeMode::kNearest;  // kResize: scale is output over input extent, half-pixel centres
  std::string function;      // "max" or "average" for pools, "add", "mul", ... for elementwise
  std::string activation;    // fused, as the user wrote it; empty: none
  std::map<std::string, std::string> annotations;
  friend bool operator==(const Operator&, const Operator&) = default;
};

struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  std::vector<Operator> operators;  // topological: each input is produced earlier, or by nobody
  std::map<std::string, std::string> annotations;
  friend bool operator==(const Graph&, const Graph&) = default;
};

// The index of the operator or tensor with this id. Cost: linear.
std::optional<int> FindOperator(const Graph& graph, std::string_view id);
std::optional<int> FindTensor(const Graph& graph, std::string_view id);

// Operators [first, last], both included: indices into Graph::operators.
struct Interval {
  int first = 0;
  int last = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// Who makes and who reads each tensor. producer is -1 for network inputs, constants and state.
struct Usage {
  int producer = -1;
  std::vector<int> consumers;  // ascending
};
std::vector<Usage> UsagesOf(const Graph& graph);

// What a tensor is when `interval` is one subgraph: constants, state, network inputs and outputs keep their
// role; a tensor that is made inside and read only inside is a feature; any other is a border.
base::TensorRole RoleIn(const Graph& graph, const Usage& usage, int tensor, Interval interval);

// The product of the extents; 1 for a scalar. The caller bounds it by base::kMaxTotal.
int64_t ElementsOf(const Shape& shape);

// The multiply-accumulates of one operator: of its whole (first) output, taps that fall into the padding
// included, as is usual. 0 for kinds without any: pools, elementwise, softmax and layout changes.
int64_t MacsOf(const Graph& graph, const Operator& op);

}  // namespace tessera::graph
