// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "model_builder.h"

// Networks in the form that exporters write, small enough to plan quickly.
namespace tessera::graph::onnx {

void BuildResNet(ModelBuilder& model);  // batch norm, skips, global pool, classifier
void BuildMobileNet(
    ModelBuilder& model);  // inverted residuals with Clip, a Reshape whose shape is computed
void BuildInception(ModelBuilder& model);  // branches with pools, wide concats
void BuildUNet(ModelBuilder& model);       // long skips; up by ConvTranspose and by Resize
void BuildTransformer(
    ModelBuilder& model);  // one encoder layer, heads by Reshape and Transpose, norms spelled out
void BuildKeywords(
    ModelBuilder& model);  // sound: convolutions and pools over one axis, depthwise ones, a skip
void BuildDecoderStep(ModelBuilder& model);  // one token, key and value cache "past_key_values.0.*"

}  // namespace tessera::graph::onnx
