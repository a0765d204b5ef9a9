#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/description.h"
#include "tessera/graph/onnx/draft.h"
#include "tessera/graph/onnx/model_file.h"

namespace tessera::graph::onnx {

// Takes one node after the other into a draft: folds it, translates it, describes it as the user says, or makes it a barrier.
class NodeImport {
 public:
  // All must outlive it.
  NodeImport(const ModelFile& file, const std::string& file_name, const Descriptions& descriptions,
             Draft& draft)
      : file_(file), file_name_(file_name), descriptions_(descriptions), draft_(draft) {}

  // The node's inputs are bound. Afterwards its outputs are. Refuses nodes that break their own definition, and those whose
  // outputs have no shape that anybody knows.
  base::Expected<void> Take(const Node& node);

 private:
  bool TakeAsConstants(const Node& node);
  base::Expected<void> CheckShapes(const Node& node) const;
  base::Expected<void> Fence(const Node& node, const std::string& reason);
  base::Expected<void> Describe(const Node& node, const Description& description);
  const Description* FindDescription(const Node& node) const;
  Operator Opaque(const Node& node);
  std::vector<ValueType> TypesOfOutputs(const Node& node) const;
  std::map<std::string, Operand> OperandsOf(const Node& node) const;
  bool ReadsFeatures(const Node& node) const;

  const ModelFile& file_;
  const std::string& file_name_;
  const Descriptions& descriptions_;
  Draft& draft_;
};

}  // namespace tessera::graph::onnx
