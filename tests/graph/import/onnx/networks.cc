// SPDX-License-Identifier: Apache-2.0

#include "networks.h"

#include <cmath>

namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;

Attributes Window(int64_t kernel, int64_t stride, int64_t pad) {
  return {{"kernel_shape", Ints{kernel, kernel}},
          {"strides", Ints{stride, stride}},
          {"pads", Ints{pad, pad, pad, pad}}};
}

struct Layer {
  int64_t in = 0;
  int64_t out = 0;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t groups = 1;
};

std::string Conv(ModelBuilder& model, const std::string& input, const std::string& name,
                 Layer layer) {
  model.Weight(name + ".weight", {layer.out, layer.in / layer.groups, layer.kernel, layer.kernel});
  model.Weight(name + ".bias", {layer.out});
  Attributes attributes = Window(layer.kernel, layer.stride, layer.kernel / 2);
  attributes["group"] = layer.groups;
  return model.Add("Conv", {input, name + ".weight", name + ".bias"}, name, attributes);
}

std::string BatchNorm(ModelBuilder& model, const std::string& input, const std::string& name,
                      int64_t channels) {
  std::vector<std::string> operands = {input};
  for (const char* part : {".scale", ".shift", ".mean", ".variance"})
    operands.push_back(model.Weight(name + part, {channels}));
  return model.Add("BatchNormalization", operands, name);
}

std::string ConvBnRelu(ModelBuilder& model, const std::string& input, const std::string& name,
                       Layer layer) {
  const std::string bn = BatchNorm(model, Conv(model, input, name, layer), name + "_bn", layer.out);
  return model.Add("Relu", {bn}, name + "_relu");
}

std::string Linear(ModelBuilder& model, const std::string& input, const std::string& name,
                   int64_t in, int64_t out) {
  model.Weight(name + ".weight", {in, out});
  model.Weight(name + ".bias", {out});
  return model.Add(
      "Add", {model.Add("MatMul", {input, name + ".weight"}, name + "_product"), name + ".bias"},
      name);
}

// As operator sets before 17 spell it.
std::string LayerNorm(ModelBuilder& model, const std::string& x, const std::string& name,
                      int64_t channels) {
  const std::string mean = model.Add("ReduceMean", {x}, name + "_mean", {{"axes", Ints{-1}}});
  const std::string difference = model.Add("Sub", {x, mean}, name + "_sub");
  const std::string square =
      model.Add("Pow", {difference, model.Real(name + ".two", 2)}, name + "_pow");
  const std::string variance =
      model.Add("ReduceMean", {square}, name + "_variance", {{"axes", Ints{-1}}});
  const std::string shifted =
      model.Add("Add", {variance, model.Real(name + ".eps", 1e-5)}, name + "_eps");
  const std::string root = model.Add("Sqrt", {shifted}, name + "_sqrt");
  const std::string quotient = model.Add("Div", {difference, root}, name + "_div");
  const std::string scaled =
      model.Add("Mul", {quotient, model.Weight(name + ".scale", {channels})}, name + "_mul");
  return model.Add("Add", {scaled, model.Weight(name + ".shift", {channels})}, name);
}

std::string Gelu(ModelBuilder& model, const std::string& x, const std::string& name) {
  const std::string scaled =
      model.Add("Div", {x, model.Real(name + ".root", std::sqrt(2.0))}, name + "_div");
  const std::string erf = model.Add("Erf", {scaled}, name + "_erf");
  const std::string shifted = model.Add("Add", {erf, model.Real(name + ".one", 1)}, name + "_add");
  const std::string product = model.Add("Mul", {x, shifted}, name + "_mul");
  return model.Add("Mul", {product, model.Real(name + ".half", 0.5)}, name);
}

struct Attention {
  int64_t tokens = 0;
  int64_t heads = 0;
  int64_t depth = 0;
};

// [1, tokens, heads * depth] as [1, heads, tokens, depth]; the shape is made of Shape, Gather and
// Concat.
std::string SplitHeads(ModelBuilder& model, const std::string& x, const std::string& name,
                       Attention sizes) {
  const std::string shape = model.Add("Shape", {x}, name + "_shape");
  const std::string tokens = model.Add("Gather", {shape, model.Scalar(name + ".one", 1)},
                                       name + "_tokens", {{"axis", int64_t{0}}});
  const std::string listed =
      model.Add("Unsqueeze", {tokens, model.Integers(name + ".axis", {0})}, name + "_listed");
  const std::string wanted = model.Add("Concat",
                                       {model.Integers(name + ".batch", {1}), listed,
                                        model.Integers(name + ".rest", {sizes.heads, sizes.depth})},
                                       name + "_wanted", {{"axis", int64_t{0}}});
  const std::string split = model.Add("Reshape", {x, wanted}, name + "_split");
  return model.Add("Transpose", {split}, name, {{"perm", Ints{0, 2, 1, 3}}});
}

std::string Attend(ModelBuilder& model, const std::string& queries, const std::string& keys,
                   const std::string& values, const std::string& name, Attention sizes) {
  const std::string turned =
      model.Add("Transpose", {keys}, name + "_keys", {{"perm", Ints{0, 1, 3, 2}}});
  const std::string scores = model.Add("MatMul", {queries, turned}, name + "_scores");
  const double root = std::sqrt(static_cast<double>(sizes.depth));
  const std::string scaled =
      model.Add("Div", {scores, model.Real(name + ".root", root)}, name + "_scaled");
  const std::string weights =
      model.Add("Softmax", {scaled}, name + "_softmax", {{"axis", int64_t{-1}}});
  const std::string mixed = model.Add("MatMul", {weights, values}, name + "_mixed");
  const std::string back =
      model.Add("Transpose", {mixed}, name + "_back", {{"perm", Ints{0, 2, 1, 3}}});
  return model.Add(
      "Reshape", {back, model.Integers(name + ".joined", {0, 0, sizes.heads * sizes.depth})}, name);
}

}  // namespace

void BuildResNet(ModelBuilder& model) {
  std::string x = model.Input("image", {"batch", 3, 32, 32});
  x = ConvBnRelu(model, x, "stem", {.in = 3, .out = 16, .kernel = 7, .stride = 2});
  x = model.Add("MaxPool", {x}, "pool", Window(3, 2, 1));
  int64_t channels = 16;
  for (int block = 0; block < 3; ++block) {
    const std::string name = "block" + std::to_string(block);
    const int64_t stride = block == 0 ? 1 : 2;
    const int64_t out = block == 0 ? 16 : channels * 2;
    std::string main = ConvBnRelu(model, x, name + "_a",
                                  {.in = channels, .out = out, .kernel = 3, .stride = stride});
    main = BatchNorm(model, Conv(model, main, name + "_b", {.in = out, .out = out, .kernel = 3}),
                     name + "_b_bn", out);
    std::string skip = x;
    if (block > 0)
      skip = Conv(model, x, name + "_skip", {.in = channels, .out = out, .stride = stride});
    x = model.Add("Relu", {model.Add("Add", {main, skip}, name + "_add")}, name);
    channels = out;
  }
  x = model.Add("Flatten", {model.Add("GlobalAveragePool", {x}, "average")}, "flat");
  model.Weight("fc.weight", {10, channels});
  model.Weight("fc.bias", {10});
  model.Add("Gemm", {x, "fc.weight", "fc.bias"}, "scores", {{"transB", int64_t{1}}});
  model.Output("scores", {"batch", 10});
}

void BuildMobileNet(ModelBuilder& model) {
  model.Real("zero", 0);
  model.Real("six", 6);
  const auto relu6 = [&model](const std::string& x) {
    return model.Add("Clip", {x, "zero", "six"}, x + "_clip");
  };
  std::string x = model.Input("image", {"N", 3, 32, 32});
  x = relu6(Conv(model, x, "stem", {.in = 3, .out = 8, .kernel = 3, .stride = 2}));
  for (int block = 0; block < 2; ++block) {
    const std::string name = "block" + std::to_string(block);
    const std::string wide = relu6(Conv(model, x, name + "_expand", {.in = 8, .out = 48}));
    const std::string depth = relu6(
        Conv(model, wide, name + "_depthwise", {.in = 48, .out = 48, .kernel = 3, .groups = 48}));
    x = model.Add("Add", {Conv(model, depth, name + "_project", {.in = 48, .out = 8}), x}, name);
  }
  x = model.Add("GlobalAveragePool", {x}, "average");
  const std::string shape = model.Add("Shape", {x}, "shape");
  const std::string batch = model.Add("Gather", {shape, model.Scalar("first", 0)}, "batch");
  const std::string listed = model.Add("Unsqueeze", {batch, model.Integers("axis", {0})}, "listed");
  const std::string wanted =
      model.Add("Concat", {listed, model.Integers("rest", {-1})}, "wanted", {{"axis", int64_t{0}}});
  x = model.Add("Reshape", {x, wanted}, "flat");
  model.Weight("fc.weight", {10, 8});
  model.Weight("fc.bias", {10});
  model.Add("Gemm", {x, "fc.weight", "fc.bias"}, "scores", {{"transB", int64_t{1}}});
  model.Output("scores", {"N", 10});
}

void BuildInception(ModelBuilder& model) {
  std::string x = model.Input("image", {1, 16, 16, 16});
  for (int block = 0; block < 2; ++block) {
    const std::string name = "block" + std::to_string(block);
    const int64_t in = block == 0 ? 16 : 64;
    const std::string a = ConvBnRelu(model, x, name + "_1x1", {.in = in, .out = 16});
    const std::string b =
        ConvBnRelu(model, ConvBnRelu(model, x, name + "_3x3_in", {.in = in, .out = 8}),
                   name + "_3x3", {.in = 8, .out = 16, .kernel = 3});
    const std::string c =
        ConvBnRelu(model, ConvBnRelu(model, x, name + "_5x5_in", {.in = in, .out = 8}),
                   name + "_5x5", {.in = 8, .out = 16, .kernel = 5});
    const std::string pooled = model.Add("AveragePool", {x}, name + "_pool", Window(3, 1, 1));
    const std::string d = ConvBnRelu(model, pooled, name + "_project", {.in = in, .out = 16});
    x = model.Add("Concat", {a, b, c, d}, name, {{"axis", int64_t{1}}});
  }
  model.Output("block1");
}

void BuildUNet(ModelBuilder& model) {
  const std::string image = model.Input("image", {1, 3, 32, 32});
  const std::string top = ConvBnRelu(model, image, "down0", {.in = 3, .out = 8, .kernel = 3});
  const std::string middle =
      ConvBnRelu(model, model.Add("MaxPool", {top}, "pool0", Window(2, 2, 0)), "down1",
                 {.in = 8, .out = 16, .kernel = 3});
  const std::string bottom =
      ConvBnRelu(model, model.Add("MaxPool", {middle}, "pool1", Window(2, 2, 0)), "bottom",
                 {.in = 16, .out = 32, .kernel = 3});
  model.Weight("up1.weight", {32, 16, 2, 2});
  const std::string up1 = model.Add("ConvTranspose", {bottom, "up1.weight"}, "up1",
                                    {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}});
  const std::string joined1 = model.Add("Concat", {up1, middle}, "join1", {{"axis", int64_t{1}}});
  const std::string wide = ConvBnRelu(model, joined1, "wide1", {.in = 32, .out = 8, .kernel = 3});
  const std::string up0 =
      model.Add("Resize", {wide, "", model.Reals("scales", {1, 1, 2, 2})}, "up0",
                {{"mode", "linear"}, {"coordinate_transformation_mode", "align_corners"}});
  const std::string joined0 = model.Add("Concat", {up0, top}, "join0", {{"axis", int64_t{1}}});
  Conv(model, joined0, "mask", {.in = 16, .out = 2});
  model.Output("mask", {1, 2, 32, 32});
}

void BuildTransformer(ModelBuilder& model) {
  const Attention sizes{.tokens = 16, .heads = 4, .depth = 8};
  const int64_t width = sizes.heads * sizes.depth;
  const std::string x = model.Input("tokens", {1, "length", width});
  const std::string normed = LayerNorm(model, x, "norm0", width);
  const std::string q =
      SplitHeads(model, Linear(model, normed, "q", width, width), "queries", sizes);
  const std::string k = SplitHeads(model, Linear(model, normed, "k", width, width), "keys", sizes);
  const std::string v =
      SplitHeads(model, Linear(model, normed, "v", width, width), "values", sizes);
  const std::string mixed =
      Linear(model, Attend(model, q, k, v, "attention", sizes), "out", width, width);
  const std::string sum = model.Add("Add", {mixed, x}, "sum");
  const std::string wide = Gelu(
      model, Linear(model, LayerNorm(model, sum, "norm1", width), "up", width, 4 * width), "gelu");
  model.Add("Add", {Linear(model, wide, "down", 4 * width, width), sum}, "result");
  model.Output("result", {1, "length", width});
}

void BuildKeywords(ModelBuilder& model) {
  const auto conv = [&model](const std::string& input, const std::string& name,
                             const Layer& layer) {
    model.Weight(name + ".weight", {layer.out, layer.in / layer.groups, layer.kernel});
    const std::string made = model.Add("Conv", {input, name + ".weight"}, name,
                                       {{"kernel_shape", Ints{layer.kernel}},
                                        {"strides", Ints{layer.stride}},
                                        {"pads", Ints{layer.kernel / 2, layer.kernel / 2}},
                                        {"group", layer.groups}});
    return model.Add("Relu", {BatchNorm(model, made, name + "_bn", layer.out)}, name + "_relu");
  };
  const Attributes halves = {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}};
  const std::string sound = model.Input("sound", {1, 8, 200});
  const std::string stem = conv(sound, "stem", {.in = 8, .out = 16, .kernel = 9, .stride = 2});
  const std::string pooled = model.Add("MaxPool", {stem}, "pool", halves);
  const std::string depthwise =
      conv(pooled, "depthwise", {.in = 16, .out = 16, .kernel = 3, .groups = 16});
  const std::string pointwise = conv(depthwise, "pointwise", {.in = 16, .out = 16});
  const std::string sum = model.Add("Add", {pointwise, pooled}, "sum");
  const std::string mean = model.Add("GlobalAveragePool", {sum}, "mean");
  const std::string flat = model.Add("Flatten", {mean}, "flat");
  model.Output(Linear(model, flat, "words", 16, 12));
}

void BuildDecoderStep(ModelBuilder& model) {
  const Attention sizes{.tokens = 1, .heads = 4, .depth = 8};
  const int64_t width = sizes.heads * sizes.depth;
  const std::string id = model.Input("input_ids", {1, 1}, kInt64);
  const std::string past_k =
      model.Input("past_key_values.0.key", {1, sizes.heads, "past", sizes.depth});
  const std::string past_v =
      model.Input("past_key_values.0.value", {1, sizes.heads, "past", sizes.depth});
  const std::string x = model.Add("Gather", {model.Weight("embedding", {100, width}), id}, "embed");
  const std::string q = SplitHeads(model, Linear(model, x, "q", width, width), "queries", sizes);
  const std::string k = SplitHeads(model, Linear(model, x, "k", width, width), "keys", sizes);
  const std::string v = SplitHeads(model, Linear(model, x, "v", width, width), "values", sizes);
  const std::string keys =
      model.Add("Concat", {past_k, k}, "present.0.key", {{"axis", int64_t{2}}});
  const std::string values =
      model.Add("Concat", {past_v, v}, "present.0.value", {{"axis", int64_t{2}}});
  const std::string mixed =
      Linear(model, Attend(model, q, keys, values, "attention", sizes), "out", width, width);
  model.Add("Add", {mixed, x}, "hidden");
  model.Output("hidden");
  model.Output("present.0.key");
  model.Output("present.0.value");
}

}  // namespace tessera::graph::onnx
