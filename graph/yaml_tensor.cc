#include "tessera/graph/yaml_tensor.h"

#include "tessera/graph/shape_inference.h"

namespace tessera::graph {
std::map<std::string, std::string> ReadAnnotations(const base::YamlNode& node) {
  std::map<std::string, std::string> annotations;
  for (auto& [key, text] : node.UserKeys()) annotations.emplace(key, text);
  return annotations;
}

base::DataType ReadType(const base::YamlNode& node, base::DataType otherwise) {
  return node ? static_cast<base::DataType>(node.OneOf(base::DataTypeNames())) : otherwise;
}

Shape ReadShape(const base::YamlNode& node) {
  constexpr size_t kMostAxes = 64;
  Shape shape = node.Integers(1, kMostElements);
  if (shape.size() > kMostAxes) {
    node.Complain("a shape of " + std::to_string(shape.size()) + " axes", "at most 64 axes");
  }
  if (!IsCountable(shape)) node.Complain("shape " + ToText(shape) + " is too large", "at most 2^56 elements");
  return shape;
}

Tensor ReadTensor(const base::YamlNode& entry, base::DataType default_type) {
  Tensor tensor;
  tensor.id = entry.At("id").Text();
  tensor.annotations = ReadAnnotations(entry);
  const base::YamlNode bytes = entry.Maybe("bytes");
  if (!bytes) {
    tensor.shape = ReadShape(entry.At("shape"));
    tensor.type = ReadType(entry.Maybe("dtype"), default_type);
    return tensor;
  }
  if (entry.Maybe("shape") || entry.Maybe("dtype")) {
    bytes.Complain("bytes beside shape or dtype", "bytes alone, or shape with dtype");
  }
  tensor.shape = {bytes.Integer(1, kMostElements)};
  tensor.type = base::DataType::kUint8;
  return tensor;
}

}  // namespace tessera::graph
