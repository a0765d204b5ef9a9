// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::onnx {

// The known properties of an operand of a node; `constant` may be null.
struct Operand {
  common::ValueType type;
  const common::Constant* constant = nullptr;
};

// A parsed and checked model file. It hides the ONNX library and protobuf.
class ModelFile {
 public:
  // Refuses input that is not an ONNX model: truncated or corrupt bytes, no graph, values that are
  // made twice or never, cycles, names that are not UTF-8, constants with impossible extents, and
  // operators that violate the library's own schema, also in the element types of their operands.
  // `file_name` is used in messages only.
  static base::Expected<ModelFile> Parse(std::string_view bytes, const std::string& file_name);
  ModelFile(ModelFile&&) noexcept;
  ModelFile& operator=(ModelFile&&) noexcept;
  ~ModelFile();

  const common::Model& Contents() const { return model_; }

  // The result of the library's shape inference for a node's outputs, one entry each. All are
  // unknown if the library does not know the operator or has too little information on its
  // operands. An error is the text of the library's error.
  tl::expected<std::vector<common::ValueType>, std::string> InferOutputs(
      const common::Node& node, const std::map<std::string, Operand>& operands) const;

 private:
  struct Message;
  ModelFile();
  std::unique_ptr<Message> message_;
  common::Model model_;
};

}  // namespace tessera::graph::import::onnx
