// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/draft.h"
#include "tessera/graph/import/common/format.h"
#include "tessera/graph/import/onnx/model_file.h"
#include "tessera/graph/import/onnx/translations.h"

namespace tessera::graph::import::onnx {

// Networks from ONNX files (docs/onnx.md).

// Returns the graph of a model file. Operators are in the order nearest to the file's; batch
// normalisation, biases and activations are fused, and shape arithmetic is folded. An operator with
// unknown properties becomes a barrier with a note. On failure returns the first fault, with its
// operator. Reads only `bytes`; `file_name` is used in messages only. The same bytes and options
// always result in the same graph, and ReadNetwork reads the same graph back from WriteNetworkJson.
// Cost: about linear in the nodes.
base::Expected<common::Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                          const common::ImportOptions& options);

// Adds one node after the other to a draft: folds it, translates it, uses the user's description,
// or makes it a barrier.
//
// No computation of the network is lost, for any kind of operator. After a translation, every
// operand that is computed while the network runs must be read by an operator that the node made,
// or be passed on by the node, and every output that is read must have a counterpart. If that fails
// the translation is undone, and the node becomes a barrier over all of its operands. So a
// translator may ignore operands that it does not know.
class NodeImport {
 public:
  // All arguments must outlive it.
  NodeImport(const ModelFile& file, const std::string& file_name,
             const common::Descriptions& descriptions, common::Draft& draft);

  // Requires that the node's inputs are bound. Binds its outputs. Refuses nodes that violate their
  // own definition, and nodes with outputs of unknown shape.
  base::Expected<void> Take(const common::Node& node);

 private:
  bool TakeAsConstants(const common::Node& node);
  base::Expected<void> CheckAttributes(const common::Node& node) const;
  base::Expected<void> Translate(const common::Node& node, const TranslationRule& rule);
  std::optional<common::Obstacle> FindMismatch(const common::Node& node,
                                               const TranslationRule& rule) const;
  std::optional<std::string> FindLoss(const common::Node& node,
                                      const common::Draft::Mark& before) const;
  base::Expected<void> CheckShapes(const common::Node& node) const;
  // `known`: the output types that an undone translation found, for outputs whose type neither
  // library nor file states.
  base::Expected<void> Fence(const common::Node& node, const std::string& reason,
                             const std::vector<common::ValueType>& known = {});
  base::Expected<void> Describe(const common::Node& node, const common::Description& description);
  const common::Description* FindDescription(const common::Node& node) const;
  Operator Opaque(const common::Node& node);
  std::vector<common::ValueType> TypesOfOutputs(const common::Node& node) const;
  std::vector<common::ValueType> TranslatedOutputs(const common::Node& node) const;
  std::map<std::string, Operand> OperandsOf(const common::Node& node) const;
  bool ReadsFeatures(const common::Node& node) const;

  const ModelFile& file_;
  const std::string& file_name_;
  const common::Descriptions& descriptions_;
  common::Draft& draft_;
  // values that an operator reads, or that leave the network
  std::unordered_set<std::string> read_;
};

// "Conv", "com.microsoft:FusedConv".
std::string KindOf(const common::Node& node);

bool MakesRandomNumbers(const common::Node& node);

// Returns why a node without a translation becomes a barrier.
std::string ReasonOfUnknown(const common::Node& node);

// The first operand whose shape contradicts the definition of its operator (check_shapes.cc).
std::optional<common::Obstacle> FindMisshapenOperand(const common::Draft& draft,
                                                     const common::Node& node);

// The multiply-accumulates of a node that becomes an opaque operator, if its definition and shapes
// determine them exactly; otherwise nullopt: its work is unknown. A fault if they exceed 2^62.
// `outputs` are the known shapes and types of the node's outputs.
tl::expected<std::optional<int64_t>, common::Obstacle> CountMacs(
    const common::Draft& draft, const common::Node& node,
    const std::vector<common::ValueType>& outputs);

}  // namespace tessera::graph::import::onnx
