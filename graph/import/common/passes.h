#pragma once

#include <set>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// Who makes and who reads each tensor of a graph while passes rewrite it. Operators that vanish
// keep their index until Compact, so that a pass may go through them in order. Each change costs
// the readers that it moves.
class Links {
 public:
  explicit Links(Graph& graph);

  int CountOperators() const { return static_cast<int>(graph_->operators.size()); }
  bool IsGone(int op) const { return gone_[static_cast<size_t>(op)]; }
  Operator& At(int op) { return graph_->operators[static_cast<size_t>(op)]; }
  const Operator& At(int op) const { return graph_->operators[static_cast<size_t>(op)]; }
  Tensor& TensorAt(int tensor) { return graph_->tensors[static_cast<size_t>(tensor)]; }
  const Tensor& TensorAt(int tensor) const { return graph_->tensors[static_cast<size_t>(tensor)]; }

  int MakerOf(int tensor) const {
    return makers_[static_cast<size_t>(tensor)];
  }  // -1 for given tensors
  const std::set<int>& ReadersOf(int tensor) const { return readers_[static_cast<size_t>(tensor)]; }

  // Whether this operator alone reads the tensor, and it does not leave the network.
  bool OnlyReads(int op, int tensor) const;

  // The first operator makes what the last one made; those in `ops`, the last one among them,
  // vanish.
  void Absorb(int maker, const std::vector<int>& ops);

  // Whoever read `from` reads `to`; the operator that made `from` vanishes.
  void Bypass(int from, int to);

  // One operator reads another tensor.
  void ReadInstead(int op, int from, int to);

  // The operator vanishes, and with it its claim on what it read.
  void Remove(int op);

  // Takes vanished operators out. Indices of before mean nothing any more.
  void Compact();

 private:
  Graph* graph_;
  std::vector<int> makers_;
  std::vector<std::set<int>> readers_;
  std::vector<bool> gone_;
};

// What makes operators fewer once all nodes are translated. Each keeps what the network computes,
// and reports what it takes out.

// Takes out operators whose results nobody reads, and network inputs that nobody reads.
void DropUnread(Draft& draft);

// Takes out quantisation: a pair gives the tensor before it the quantised type; a lone conversion
// is done by the operator that makes its operand, where nobody else reads that.
void SetDataTypes(Draft& draft);

// Joins reshapes and transposes in a row, those that end where they began vanish; a pool over a
// whole map drops its axes itself.
void JoinReshapes(Draft& draft);

// Layer normalisations that are spelled out as means, differences and quotients become one operator
// each.
void GatherNormalizations(Draft& draft);

// Batch normalisation, biases and scales by the channel go into the convolution or product before
// them; what is computed element by element from the result of an operator alone becomes its
// activation.
void Fuse(Draft& draft);

}  // namespace tessera::graph::import::common
