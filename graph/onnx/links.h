#pragma once

#include <set>
#include <vector>

#include "tessera/graph/graph.h"

namespace tessera::graph::onnx {

// Who makes and who reads each tensor of a graph while passes rewrite it. Operators that vanish keep their index until Compact, so
// that a pass may go through them in order. Each change costs the readers that it moves.
class Links {
 public:
  explicit Links(Graph& graph);

  int CountOperators() const { return static_cast<int>(graph_->operators.size()); }
  bool IsGone(int op) const { return gone_[static_cast<size_t>(op)]; }
  Operator& At(int op) { return graph_->operators[static_cast<size_t>(op)]; }
  const Operator& At(int op) const { return graph_->operators[static_cast<size_t>(op)]; }
  Tensor& TensorAt(int tensor) { return graph_->tensors[static_cast<size_t>(tensor)]; }
  const Tensor& TensorAt(int tensor) const { return graph_->tensors[static_cast<size_t>(tensor)]; }

  int MakerOf(int tensor) const { return makers_[static_cast<size_t>(tensor)]; }  // -1 for given tensors
  const std::set<int>& ReadersOf(int tensor) const { return readers_[static_cast<size_t>(tensor)]; }

  // Whether this operator alone reads the tensor, and it does not leave the network.
  bool OnlyReads(int op, int tensor) const;

  // The first operator makes what the last one made; those in `ops`, the last one among them, vanish.
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

}  // namespace tessera::graph::onnx
