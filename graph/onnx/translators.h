#pragma once

#include "tessera/graph/onnx/draft.h"

namespace tessera::graph::onnx {

// Makes operators of a node that reads at least one feature. One function for each family of ONNX operators, in the
// source of that name.
using Translator = Outcome (*)(Translation&);

Outcome TranslateConv(Translation& node);            // Conv, ConvInteger, QLinearConv
Outcome TranslateTransposedConv(Translation& node);  // ConvTranspose

Outcome TranslatePool(Translation& node);        // MaxPool, AveragePool, LpPool
Outcome TranslateGlobalPool(Translation& node);  // GlobalMaxPool, GlobalAveragePool, GlobalLpPool

Outcome TranslateMatMul(Translation& node);  // MatMul, FusedMatMul, MatMulInteger, QLinearMatMul
Outcome TranslateGemm(Translation& node);    // Gemm

Outcome TranslateElementwise(Translation& node);  // Add, Relu, Where, Clip, ...
Outcome TranslateComparison(Translation& node);   // Equal, Less, ...: Booleans
Outcome TranslateQLinear(Translation& node);      // QLinearAdd, QLinearMul, QLinearSigmoid, ...
Outcome TranslateCast(Translation& node);         // Cast, CastLike
Outcome TranslateBatchNorm(Translation& node);    // BatchNormalization
Outcome TranslateIdentity(Translation& node);     // Identity, Dropout

Outcome TranslateQuantize(Translation& node);    // QuantizeLinear
Outcome TranslateDequantize(Translation& node);  // DequantizeLinear

Outcome TranslateReshape(Translation& node);        // Reshape
Outcome TranslateFlatten(Translation& node);        // Flatten
Outcome TranslateSqueeze(Translation& node);        // Squeeze
Outcome TranslateUnsqueeze(Translation& node);      // Unsqueeze
Outcome TranslateTranspose(Translation& node);      // Transpose
Outcome TranslateConcat(Translation& node);         // Concat
Outcome TranslateQLinearConcat(Translation& node);  // QLinearConcat
Outcome TranslateSplit(Translation& node);          // Split
Outcome TranslateSlice(Translation& node);          // Slice
Outcome TranslatePad(Translation& node);            // Pad
Outcome TranslateExpand(Translation& node);         // Expand
Outcome TranslateTile(Translation& node);           // Tile
Outcome TranslateGather(Translation& node);         // Gather
Outcome TranslateDepthToSpace(Translation& node);   // DepthToSpace, SpaceToDepth
Outcome TranslateResize(Translation& node);         // Resize, Upsample

Outcome TranslateReduce(Translation& node);         // ReduceMean, ReduceMax, ..., ArgMax, ArgMin
Outcome TranslateSoftmax(Translation& node);        // Softmax, LogSoftmax, Hardmax
Outcome TranslateLayerNorm(Translation& node);      // LayerNormalization and its kin
Outcome TranslateInstanceNorm(Translation& node);   // InstanceNormalization
Outcome TranslateGroupNorm(Translation& node);      // GroupNormalization
Outcome TranslateSkipLayerNorm(Translation& node);  // SkipLayerNormalization: an addition first

// How operators of a type become operators of known kinds.
struct TranslationRule {
  Translator translate = nullptr;
  size_t least_operands = 1;  // that the node must have; the function relies on it
  bool constant_first =
      false;  // the first operand may be a constant; the function relies on a feature otherwise
};

// The rule for this operator, or null.
const TranslationRule* FindTranslation(const Node& node);

// All types that have a rule: "Conv", "com.microsoft:FusedConv".
std::vector<std::string> TranslatedTypes();

}  // namespace tessera::graph::onnx
