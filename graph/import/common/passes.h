// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// The maker and the readers of each tensor of a graph while passes rewrite it. Removed operators
// keep their index until Compact, so that a pass may visit operators in order. The cost of each
// change is the number of readers that it moves.
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

  // Whether this operator is the only reader of the tensor, and the tensor does not leave the
  // network.
  bool OnlyReads(int op, int tensor) const;

  // The first operator takes over the result of the last one. The operators in `ops`, which include
  // the last one, are removed.
  void Absorb(int maker, const std::vector<int>& ops);

  // All readers of `from` read `to` instead; the operator that made `from` is removed.
  void Bypass(int from, int to);

  // The operator reads `to` instead of `from`.
  void ReadInstead(int op, int from, int to);

  // Removes the operator and its reads.
  void Remove(int op);

  // Adds the tensors that were added to the graph. No operator makes or reads them yet.
  void TakeInTensors();

  // Deletes removed operators. Previous indices become invalid.
  void Compact();

 private:
  Graph* graph_;
  std::vector<int> makers_;
  std::vector<std::set<int>> readers_;
  std::vector<bool> gone_;
};

// Passes over a draft to which all nodes have been added.

// Marks network inputs that are outputs of the previous run: those of `pairs` (input and output),
// and those whose name has "past" where an output's has "present", as in key and value caches.
// Refuses names that are not an input or output.
base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft);

// Makes every output of the file an output of the graph, with its name and as often as the file
// lists it.
void MarkOutputs(const Model& model, Draft& draft);

// The draft's graph with its tensors in the order of YAML networks (inputs, constants, outputs of
// operators) and without unread ones. Refuses an empty network and totals that are too large.
base::Expected<Graph> Finish(Draft draft, const std::string& file);

// Passes that reduce the number of operators after all nodes are translated. Each preserves the
// computation of the network, and reports what it removes.

// Removes operators with unread results, and unread network inputs.
void DropUnread(Draft& draft);

// Removes quantisation. The tensor before a pair of conversions gets the quantised type. A lone
// conversion is merged into the operator that makes its operand, if that tensor has no other
// reader.
void SetDataTypes(Draft& draft);

// Joins consecutive reshapes and transposes, and removes sequences that restore their input. A pool
// over a whole map drops its axes itself. Transposes that move only axes of extent 1 become
// reshapes, and products take the shape from which a reshape before them begins.
void JoinReshapes(Draft& draft);

// Products take their operands, and make their results, in the order of axes that is stored, so
// that transposes before and after them are not needed.
void AbsorbTransposes(Draft& draft);

// Layer normalisations that are written as means, differences and quotients become one operator
// each.
void GatherNormalizations(Draft& draft);

// Batch normalisation, biases and scales by channel are merged into the preceding convolution or
// product. Elementwise functions of the result of one operator become its activation.
void Fuse(Draft& draft);

}  // namespace tessera::graph::import::common
