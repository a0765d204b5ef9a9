#pragma once

#include <map>
#include <string>

#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"

namespace tessera::graph {

// A name as faults show it.
inline std::string InQuotes(const std::string& name) { return "'" + name + "'"; }

// The "x-..." keys of a map with their text.
std::map<std::string, std::string> ReadAnnotations(const base::YamlNode& node);

// The data type named here, or `otherwise` where none is.
base::DataType ReadType(const base::YamlNode& node, base::DataType otherwise);

// A list of extents, each from 1 to 2^56, whose product is at most 2^56.
Shape ReadShape(const base::YamlNode& node);

// A tensor with its id, shape, data type and annotations: {id: x, shape: [1, 8], dtype: int8}, or, of uint8,
// {id: x, bytes: 8} where `bytes` are allowed. The caller checks the keys.
Tensor ReadTensor(const base::YamlNode& entry, base::DataType default_type);

}  // namespace tessera::graph
