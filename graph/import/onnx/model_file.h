#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::onnx {

// What an operand of a node is known to be; `constant` may be null.
struct Operand {
  common::ValueType type;
  const common::Constant* constant = nullptr;
};

// A parsed and checked model file. The ONNX library and protobuf stay behind it.
class ModelFile {
 public:
  // Refuses what is no ONNX model: truncated or corrupt bytes, no graph, values that are made twice
  // or by nobody, cycles, names that are no UTF-8, constants with impossible extents, and operators
  // that break the library's own schema. `file_name` is for messages.
  static base::Expected<ModelFile> Parse(std::string_view bytes, const std::string& file_name);
  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  const common::Model& Contents() const { return model_; }

  // What the library's own shape inference says of a node's outputs, one entry each; all unknown
  // where the library does not know the operator or its operands tell too little. An error is the
  // library's objection in its words.
  tl::expected<std::vector<common::ValueType>, std::string> InferOutputs(
      const common::Node& node, const std::map<std::string, Operand>& operands) const;

 private:
  struct Message;
  ModelFile();
  std::unique_ptr<Message> message_;
  common::Model model_;
};

}  // namespace tessera::graph::import::onnx
