#pragma once

#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::onnx {

// Translates a node that reads at least one feature into operators. There is one function for each
// family of ONNX operators, in the source file of that family.
using Translator = common::Outcome (*)(common::Translation&);

common::Outcome TranslateConv(common::Translation& node);  // Conv, ConvInteger, QLinearConv
common::Outcome TranslateTransposedConv(common::Translation& node);  // ConvTranspose

common::Outcome TranslatePool(common::Translation& node);  // MaxPool, AveragePool, LpPool
common::Outcome TranslateGlobalPool(
    common::Translation& node);  // GlobalMaxPool, GlobalAveragePool, GlobalLpPool

common::Outcome TranslateMatMul(
    common::Translation& node);  // MatMul, FusedMatMul, MatMulInteger, QLinearMatMul
common::Outcome TranslateGemm(common::Translation& node);  // Gemm

common::Outcome TranslateElementwise(common::Translation& node);  // Add, Relu, Where, Clip, ...
common::Outcome TranslateComparison(common::Translation& node);   // Equal, Less, ...: Booleans
common::Outcome TranslateQLinear(
    common::Translation& node);  // QLinearAdd, QLinearMul, QLinearSigmoid, ...
common::Outcome TranslateCast(common::Translation& node);       // Cast, CastLike
common::Outcome TranslateBatchNorm(common::Translation& node);  // BatchNormalization
common::Outcome TranslateIdentity(common::Translation& node);   // Identity, Dropout

common::Outcome TranslateQuantize(common::Translation& node);    // QuantizeLinear
common::Outcome TranslateDequantize(common::Translation& node);  // DequantizeLinear

common::Outcome TranslateReshape(common::Translation& node);        // Reshape
common::Outcome TranslateFlatten(common::Translation& node);        // Flatten
common::Outcome TranslateSqueeze(common::Translation& node);        // Squeeze
common::Outcome TranslateUnsqueeze(common::Translation& node);      // Unsqueeze
common::Outcome TranslateTranspose(common::Translation& node);      // Transpose
common::Outcome TranslateConcat(common::Translation& node);         // Concat
common::Outcome TranslateQLinearConcat(common::Translation& node);  // QLinearConcat
common::Outcome TranslateSplit(common::Translation& node);          // Split
common::Outcome TranslateSlice(common::Translation& node);          // Slice
common::Outcome TranslatePad(common::Translation& node);            // Pad
common::Outcome TranslateExpand(common::Translation& node);         // Expand
common::Outcome TranslateTile(common::Translation& node);           // Tile
common::Outcome TranslateGather(common::Translation& node);         // Gather
common::Outcome TranslateDepthToSpace(common::Translation& node);   // DepthToSpace, SpaceToDepth
common::Outcome TranslateResize(common::Translation& node);         // Resize, Upsample

common::Outcome TranslateReduce(
    common::Translation& node);  // ReduceMean, ReduceMax, ..., ArgMax, ArgMin
common::Outcome TranslateSoftmax(common::Translation& node);  // Softmax, LogSoftmax, Hardmax
// LayerNormalization and its variants
common::Outcome TranslateLayerNorm(common::Translation& node);
common::Outcome TranslateInstanceNorm(common::Translation& node);  // InstanceNormalization
common::Outcome TranslateGroupNorm(common::Translation& node);     // GroupNormalization
common::Outcome TranslateSkipLayerNorm(
    common::Translation& node);  // SkipLayerNormalization: an addition first

// How operators of a type are translated into operators of known kinds.
struct TranslationRule {
  Translator translate = nullptr;
  size_t least_operands = 1;  // that the node must have; the function relies on it
  // the first operand may be a constant; otherwise the function relies on a feature
  bool constant_first = false;
};

// The rule for this operator, or null.
const TranslationRule* FindTranslation(const common::Node& node);

// All types that have a rule: "Conv", "com.microsoft:FusedConv".
std::vector<std::string> TranslatedTypes();

}  // namespace tessera::graph::import::onnx
