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

Outcome TranslateReshape(Translation& node);       // Reshape
Outcome TranslateFlatten(Translation& node);       // Flatten
Outcome TranslateSqueeze(Translation& node);       // Squeeze
Outcome TranslateUnsqueeze(Translation& node);     // Unsqueeze
Outcome TranslateTranspose(Translation& node);     // Transpose
Outcome TranslateConcat(Translation& node);        // Concat
Outcome TranslateSplit(Translation& node);         // Split
Outcome TranslateSlice(Translation& node);         // Slice
Outcome TranslatePad(Translation& node);           // Pad
Outcome TranslateExpand(Translation& node);        // Expand
Outcome TranslateTile(Translation& node);          // Tile
Outcome TranslateGather(Translation& node);        // Gather
Outcome TranslateDepthToSpace(Translation& node);  // DepthToSpace, SpaceToDepth
Outcome TranslateResize(Translation& node);        // Resize, Upsample

Outcome TranslateReduce(Translation& node);         // ReduceMean, ReduceMax, ..., ArgMax, ArgMin
Outcome TranslateSoftmax(Translation& node);        // Softmax, LogSoftmax, Hardmax
Outcome TranslateLayerNorm(Translation& node);      // LayerNormalization and its kin
Outcome TranslateInstanceNorm(Translation& node);   // InstanceNormalization
Outcome TranslateGroupNorm(Translation& node);      // GroupNormalization
Outcome TranslateSkipLayerNorm(Translation& node);  // SkipLayerNormalization: an addition first

// The function for this operator, or null.
Translator FindTranslator(const Node& node);

}  // namespace tessera::graph::onnx
