// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "../../../draws.h"
#include "examples.h"
#include "tessera/base/random.h"
#include "tessera/graph/import/onnx/translations.h"

// Any operand of any operator may be computed while the network runs. Import may translate the
// operator in any way, but it may not lose the operators that compute the operand. MustImport
// compares every node and edge of the file with the graph.
namespace tessera::graph::onnx {
namespace {

// A value that changes from run to run: computed from a separate network input.
std::string Compute(ModelBuilder& model, const ExampleOperand& operand, const std::string& name) {
  const std::string input =
      model.Input(name + "_given", {operand.shape.begin(), operand.shape.end()}, operand.type);
  return model.Add(operand.type == kBool ? "Not" : "Abs", {input}, name);
}

std::string Constant(ModelBuilder& model, const ExampleOperand& operand, const std::string& name) {
  if (operand.values.empty()) return model.Weight(name, operand.shape, operand.type);
  return model.Values(name, operand.shape, operand.type, operand.values);
}

// The example with the operands of `dynamic` computed, the others constant.
void ExpectNothingLost(const Example& example, const std::set<size_t>& dynamic) {
  ModelBuilder model(example.version);
  std::vector<std::string> operands;
  std::string which;
  for (size_t i = 0; i < example.operands.size(); ++i) {
    const ExampleOperand& operand = example.operands[i];
    const std::string name = "operand" + std::to_string(i);
    if (operand.left_out) {
      operands.emplace_back();
    } else if (dynamic.count(i) > 0) {
      operands.push_back(Compute(model, operand, name));
      which += " " + std::to_string(i);
    } else {
      operands.push_back(Constant(model, operand, name));
    }
  }
  SCOPED_TRACE(example.type + " of version " + std::to_string(example.version) +
               ", computed:" + which);
  for (const std::string& result : AddExample(model, example, operands, "y")) model.Output(result);
  MustImport(model);
}

TEST(DynamicOperands, AreNotLostInAnyPosition) {
  int models = 0;
  for (const Example& example : Examples()) {
    const size_t operands = example.operands.size();
    for (size_t subset = 1; subset < size_t{1} << operands; ++subset) {
      std::set<size_t> dynamic;
      bool given = true;
      for (size_t i = 0; i < operands; ++i) {
        if ((subset >> i & 1U) == 0) continue;
        dynamic.insert(i);
        given = given && !example.operands[i].left_out &&
                example.operands[i].shape != std::vector<int64_t>{0};
      }
      if (!given) continue;
      ExpectNothingLost(example, dynamic);
      ++models;
    }
  }
  EXPECT_GT(models, 2000);
}

TEST(DynamicOperands, CoverEveryTypeThatIsTranslated) {
  std::set<std::string> covered;
  for (const Example& example : Examples()) covered.insert(example.type);
  for (const std::string& type : import::onnx::TranslatedTypes())
    EXPECT_EQ(covered.count(type), 1U) << type;
}

// x [1, 8, 16, 16] and one value computed from all of it.
class OneComputedOperandTest : public testing::Test {
 protected:
  OneComputedOperandTest() { model_.Input("x", {1, 8, 16, 16}); }

  std::string Reduce(const std::string& type, const std::vector<int64_t>& axes) {
    Attributes attributes = {{"keepdims", int64_t{0}}};
    if (!axes.empty()) attributes["axes"] = axes;
    return model_.Add(type, {"x"}, "computed", attributes);
  }
  std::string Graph() {
    model_.Output("y");
    return Describe(MustImportGraph(model_));
  }

  ModelBuilder model_;
};

TEST_F(OneComputedOperandTest, IsABias) {
  const std::string mean = Reduce("ReduceMean", {0, 2, 3});
  const std::string bias = model_.Add("MatMul", {mean, model_.Weight("P", {8, 8})}, "bias");
  model_.Add("Conv", {"x", model_.Weight("W", {8, 8, 3, 3}), bias}, "y",
             {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  EXPECT_THAT(Graph(), testing::EndsWith("reshape (bias/matrix.2) -> bias [8]\n"
                                         "opaque (x, bias, W) -> y [1, 8, 16, 16]\n"));
}

TEST_F(OneComputedOperandTest, IsABiasOfATransposedConvolution) {
  const std::string bias = Reduce("ReduceMean", {0, 2, 3});
  model_.Add("ConvTranspose", {"x", model_.Weight("W", {8, 8, 2, 2}), bias}, "y",
             {{"strides", std::vector<int64_t>{2, 2}}});
  EXPECT_EQ(Graph(),
            "reduce mean (x) -> computed [8]\nopaque (x, computed, W) -> y [1, 8, 32, 32]\n");
}

TEST_F(OneComputedOperandTest, IsABoundOfAClip) {
  const std::string most = Reduce("ReduceMax", {});
  model_.Add("Clip", {model_.Add("Relu", {"x"}, "r"), "", most}, "y");
  EXPECT_EQ(Graph(),
            "reduce max (x) -> computed []\nelementwise relu (x) -> r [1, 8, 16, 16]\n"
            "opaque (r, computed) -> y [1, 8, 16, 16]\n");
}

TEST_F(OneComputedOperandTest, IsTheValueOfAPad) {
  const std::string value = Reduce("ReduceMin", {});
  model_.Add("Pad", {"x", model_.Integers("p", {0, 0, 1, 1, 0, 0, 1, 1}), value}, "y");
  EXPECT_EQ(Graph(),
            "reduce min (x) -> computed []\nopaque (x, computed, p) -> y [1, 8, 18, 18]\n");
}

TEST_F(OneComputedOperandTest, IsAScaleOfAQuantisation) {
  const std::string most =
      model_.Add("ReduceMax", {model_.Add("Abs", {"x"}, "a")}, "most", {{"keepdims", int64_t{0}}});
  const std::string scale = model_.Add("Div", {most, model_.Real("k", 127)}, "scale");
  const std::string zero = model_.Weight("z", {}, kInt8);
  const std::string q = model_.Add("QuantizeLinear", {"x", scale, zero}, "q");
  const std::string d = model_.Add("DequantizeLinear", {q, scale, zero}, "d");
  model_.Add("Conv", {d, model_.Weight("W", {8, 8, 1, 1})}, "y");
  EXPECT_EQ(Graph(),
            "elementwise abs (x) -> a [1, 8, 16, 16]\nreduce max then div (a) -> scale []\n"
            "opaque (x, scale) -> q [1, 8, 16, 16]\nopaque (q, scale) -> d [1, 8, 16, 16]\n"
            "conv (d, W) -> y [1, 8, 16, 16]\n");
}

// Neither the library nor the file states the shape; the translation of the node does.
TEST_F(OneComputedOperandTest, IsOfAnOperatorThatTheLibraryDoesNotKnow) {
  const std::string scale = Reduce("ReduceMax", {});
  model_.Weight("z", {}, kUint8);
  model_.Input("a", {1, 4}, kUint8);
  model_.Input("b", {3, 1}, kUint8);
  model_.Add("com.microsoft:QLinearAdd", {"a", scale, "z", "b", scale, "z", scale, "z"}, "y");
  EXPECT_EQ(Graph(),
            "reduce max (x) -> computed []\n"
            "opaque (a, computed, b, computed, computed) -> y [3, 4]\n");
}

// A model of several examples. Their operands are constants, computed values, or results of each
// other, with the operators that exporters put in between: copies, activations, conversions. The
// outputs are drawn among all values, some of them twice or under two names.
class RandomModel {
 public:
  explicit RandomModel(uint64_t seed) : random_(seed) {}

  void Check() {
    for (const Example& example : Examples()) {
      if (example.version == kVersion) examples_.push_back(example);
    }
    const int64_t nodes = random_.Uniform(1, 6);
    for (int64_t i = 0; i < nodes; ++i) AddNode(examples_[Draw(examples_.size())]);
    AddOutputs();
    MustImport(model_);
  }

 private:
  static constexpr int64_t kVersion = 13;

  struct Value {
    std::string name;
    std::vector<int64_t> shape;
    int type = kFloat;
    bool changes = false;
  };

  size_t Draw(size_t count) {
    return static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(count) - 1));
  }
  std::string Fresh() { return "v" + std::to_string(next_++); }

  // An operand whose values decide the node's shape is that constant, or changes from run to run.
  std::string OperandOf(const ExampleOperand& operand, bool& changes) {
    if (operand.left_out) return "";
    std::vector<const Value*> fitting;
    for (const Value& value : values_) {
      if (value.shape == operand.shape && value.type == operand.type &&
          (value.changes || operand.values.empty()))
        fitting.push_back(&value);
    }
    if (!fitting.empty() && random_.Chance(0.5)) {
      const Value& chosen = *fitting[Draw(fitting.size())];
      changes = changes || chosen.changes;
      return chosen.name;
    }
    if (random_.Chance(0.6) || operand.shape == std::vector<int64_t>{0})
      return Constant(model_, operand, Fresh());
    changes = true;
    return Compute(model_, operand, Fresh());
  }

  void AddNode(const Example& example) {
    std::vector<std::string> operands;
    bool changes = false;
    for (const ExampleOperand& operand : example.operands)
      operands.push_back(OperandOf(operand, changes));
    const std::vector<std::string> results = AddExample(model_, example, operands, Fresh());
    for (size_t i = 0; i < results.size(); ++i) {
      values_.push_back({results[i], example.results[i].shape, example.results[i].type, changes});
      while (random_.Chance(0.3)) AddGlue(values_.back());
    }
  }

  void AddGlue(Value value) {
    const std::string of = value.name;
    value.name = Fresh();
    switch (random_.Uniform(0, value.type == kFloat ? 3 : 0)) {
      case 0:
        model_.Add("Identity", {of}, value.name);
        break;
      case 1:
        model_.Add("Relu", {of}, value.name);
        break;
      case 2:
        model_.AddMany("Dropout", {of}, {value.name, Fresh()});
        break;
      default:
        const std::string scale = model_.Real(Fresh(), random_.Chance(0.5) ? 1.0 : 0.5);
        const std::string zero = model_.Values(Fresh(), {}, kUint8, {0});
        const std::string rounded = model_.Add("QuantizeLinear", {of, scale, zero}, Fresh());
        model_.Add("DequantizeLinear", {rounded, scale, zero}, value.name);
    }
    values_.push_back(std::move(value));
  }

  void AddOutputs() {
    const Value last = values_.back();
    const std::string sum = Compute(model_, {.shape = {2}}, Fresh());
    model_.Output(sum);
    model_.Output(last.name, {}, last.type);
    for (const Value& value : values_) {
      while (random_.Chance(0.2)) model_.Output(value.name, {}, value.type);
    }
  }

  base::Random random_;
  ModelBuilder model_{kVersion};
  std::vector<Example> examples_;
  std::vector<Value> values_;
  int next_ = 0;
};

TEST(DynamicOperands, AreNotLostInModelsOfSeveralNodes) {
  for (int seed = 0; seed < DrawsOf(3000) && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(seed);
    RandomModel(static_cast<uint64_t>(seed)).Check();
  }
}

}  // namespace
}  // namespace tessera::graph::onnx
