#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/draft.h"
#include "tessera/graph/import/onnx/import_onnx.h"
#include "tessera/graph/import/onnx/model_file.h"
#include "tessera/graph/import/onnx/translations.h"

namespace tessera::graph::import::onnx {

// Takes one node after the other into a draft: folds it, translates it, describes it as the user
// says, or makes it a barrier.
//
// Nothing that the network computes is lost on the way, whatever the kind of operator: after a
// translation, every operand that is computed while the network runs must be read by an operator
// that the node made, or be what the node hands on, and every output that is read must have a
// counterpart. Where that fails the translation is taken back, and the node becomes a barrier over
// all of its operands. So a translator may leave out operands of which it knows nothing.
class NodeImport {
 public:
  // All must outlive it.
  NodeImport(const ModelFile& file, const std::string& file_name, const Descriptions& descriptions,
             common::Draft& draft);

  // The node's inputs are bound. Afterwards its outputs are. Refuses nodes that break their own
  // definition, and those whose outputs have no shape that anybody knows.
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
  // `known`: what a translation that was taken back said of the outputs, where neither library nor
  // file says it.
  base::Expected<void> Fence(const common::Node& node, const std::string& reason,
                             const std::vector<common::ValueType>& known = {});
  base::Expected<void> Describe(const common::Node& node, const Description& description);
  const Description* FindDescription(const common::Node& node) const;
  Operator Opaque(const common::Node& node);
  std::vector<common::ValueType> TypesOfOutputs(const common::Node& node) const;
  std::vector<common::ValueType> TranslatedOutputs(const common::Node& node) const;
  std::map<std::string, Operand> OperandsOf(const common::Node& node) const;
  bool ReadsFeatures(const common::Node& node) const;

  const ModelFile& file_;
  const std::string& file_name_;
  const Descriptions& descriptions_;
  common::Draft& draft_;
  std::unordered_set<std::string>
      read_;  // values that an operator reads, or that leave the network
};

// The multiply-accumulates of a node that becomes an opaque operator, where its definition and
// shapes say them exactly; none where they do not: then its work is unknown. A fault where they
// pass 2^62. `outputs` are what is known of the node's outputs.
tl::expected<std::optional<int64_t>, common::Obstacle> CountMacs(
    const common::Draft& draft, const common::Node& node,
    const std::vector<common::ValueType>& outputs);

}  // namespace tessera::graph::import::onnx
