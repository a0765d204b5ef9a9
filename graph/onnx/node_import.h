#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/description.h"
#include "tessera/graph/onnx/draft.h"
#include "tessera/graph/onnx/model_file.h"
#include "tessera/graph/onnx/translators.h"

namespace tessera::graph::onnx {

// Takes one node after the other into a draft: folds it, translates it, describes it as the user says, or makes it a barrier.
//
// Nothing that the network computes is lost on the way, whatever the kind of operator: after a translation, every operand that is
// computed while the network runs must be read by an operator that the node made, or be what the node hands on, and every output
// that is read must have a counterpart. Where that fails the translation is taken back, and the node becomes a barrier over all of
// its operands. So a translator may leave out operands of which it knows nothing.
class NodeImport {
 public:
  // All must outlive it.
  NodeImport(const ModelFile& file, const std::string& file_name, const Descriptions& descriptions,
             Draft& draft);

  // The node's inputs are bound. Afterwards its outputs are. Refuses nodes that break their own definition, and those whose
  // outputs have no shape that anybody knows.
  base::Expected<void> Take(const Node& node);

 private:
  bool TakeAsConstants(const Node& node);
  base::Expected<void> CheckAttributes(const Node& node) const;
  base::Expected<void> Translate(const Node& node, const TranslationRule& rule);
  std::optional<Obstacle> FindMisfit(const Node& node, const TranslationRule& rule) const;
  std::optional<std::string> FindLoss(const Node& node, const Draft::Mark& before) const;
  base::Expected<void> CheckShapes(const Node& node) const;
  // `known`: what a translation that was taken back said of the outputs, where neither library nor file says it.
  base::Expected<void> Fence(const Node& node, const std::string& reason,
                             const std::vector<ValueType>& known = {});
  base::Expected<void> Describe(const Node& node, const Description& description);
  const Description* FindDescription(const Node& node) const;
  Operator Opaque(const Node& node);
  std::vector<ValueType> TypesOfOutputs(const Node& node) const;
  std::vector<ValueType> TranslatedOutputs(const Node& node) const;
  std::map<std::string, Operand> OperandsOf(const Node& node) const;
  bool ReadsFeatures(const Node& node) const;

  const ModelFile& file_;
  const std::string& file_name_;
  const Descriptions& descriptions_;
  Draft& draft_;
  std::unordered_set<std::string> read_;  // values that an operator reads, or that leave the network
};

}  // namespace tessera::graph::onnx
