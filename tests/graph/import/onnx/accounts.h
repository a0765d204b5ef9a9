// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "tessera/graph/import/onnx/node_import.h"

// Compares a file with the graph that import made of it.
namespace tessera::graph::onnx {

// Everything in the file that the graph does not account for, one line each; empty if the graph is
// complete. The function reads the file without the importer and checks:
//
// - Each node is listed once, in the order of the file, with its fate. The named operators exist,
//   and each operator of the graph comes from a node or passes a value on under a second name.
// - A value that changes from run to run is no constant. A node on which an output depends is
//   removed only where it passes its operand on.
// - Each edge: a node of the graph reads a value that changes from run to run. Then one of its
//   operators reads a tensor that holds the value, or is part of the same operator as the node that
//   makes the value.
// - Each output of the file is an output of the graph under its name.
//
// Cost: linear in the edges, times the operands that hold one value.
std::vector<std::string> FindUnaccounted(const std::string& bytes,
                                         const import::common::Import& import);

}  // namespace tessera::graph::onnx
