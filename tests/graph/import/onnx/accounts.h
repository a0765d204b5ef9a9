#pragma once

#include <string>
#include <vector>

#include "tessera/graph/import/onnx/import_onnx.h"

// What a file computes, held against the graph that import made of it.
namespace tessera::graph::onnx {

// Everything of the file that the graph does not account for, one line each; none where all is
// well. Reads the file by itself:
//
// - each node is listed once, in the order of the file, with what became of it; the operators named
//   exist, and each operator of the
//   graph comes from a node or hands a value on under a second name;
// - what changes from run to run is no constant, and what an output depends on is removed only
//   where it hands its operand on;
// - each edge: where a node that is in the graph reads a value that changes from run to run, one of
//   its operators reads what stands
//   for that value, or is part of the same operator as the node that makes it;
// - each output of the file is an output of the graph under its name.
//
// Cost: linear in the edges, times the operands that stand for one value.
std::vector<std::string> FindUnaccounted(const std::string& bytes,
                                         const import::onnx::Import& import);

}  // namespace tessera::graph::onnx
