#pragma once

#include <onnx/onnx_pb.h>

#include <unordered_map>

#include "tessera/graph/onnx/model_file.h"

// For the sources that see protobuf; slow to compile, so include it nowhere else.
namespace tessera::graph::onnx {

struct ModelFile::Message {
  // Inference asks for mutable nodes, yet changes none.
  mutable ::onnx::ModelProto model;
  std::unordered_map<std::string, int> versions;  // of operator sets, by domain
};

}  // namespace tessera::graph::onnx
