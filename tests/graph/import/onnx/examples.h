// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model_builder.h"

// A valid node of every type that import translates, and of some that it does not, with all
// operands that the type may have. Tests of operands in every position use them.
namespace tessera::graph::onnx {

struct ExampleOperand {
  std::vector<int64_t> shape;
  int type = kFloat;
  std::vector<double> values = {};  // of the constant; none: without data
  bool left_out = false;
};

struct ExampleResult {
  std::vector<int64_t> shape;
  int type = kFloat;
};

struct Example {
  std::string type;
  int64_t version = 13;
  std::vector<ExampleOperand> operands;
  std::vector<ExampleResult> results;
  Attributes attributes = {};
};

// Several examples of a type whose operands have several forms.
std::vector<Example> Examples();

// Adds the node. Operands are the named values, or "" where the example leaves them out. Results
// are called `name`, `name`_1, ... and declared.
std::vector<std::string> AddExample(ModelBuilder& model, const Example& example,
                                    const std::vector<std::string>& operands,
                                    const std::string& name);

}  // namespace tessera::graph::onnx
