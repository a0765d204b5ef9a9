// SPDX-License-Identifier: Apache-2.0

#include "random_batch.h"

#include <utility>

#include "graph_builder.h"

namespace tessera::graph {
namespace {

using base::OperatorKind;
using base::Random;

Graph Images(Random& random, int64_t images, int64_t rows) {
  GraphBuilder builder;
  const int input = builder.AddInput({images, random.Uniform(1, 3), rows, random.Uniform(1, 4)});
  int last = input;
  const int64_t channels = random.Uniform(1, 3);
  for (int64_t layers = random.Uniform(1, 3); layers > 0; --layers) {
    const int before = last;
    last = builder.AddConv(last, channels, 3, 1, 1);
    if (before != input && random.Chance(0.3)) last = builder.AddSum(before, last);
  }
  return std::move(builder).Build();
}

Graph Attention(Random& random, int64_t heads, int64_t rows) {
  GraphBuilder builder;
  const int64_t keys = random.Uniform(1, 6);
  const int64_t depth = random.Uniform(1, 4);
  const int query = builder.AddInput({heads, rows, depth});
  const int key = builder.AddInput({heads, keys, depth});
  const int value = builder.AddInput({heads, keys, random.Uniform(1, 4)});
  Operator scores = OfKind(OperatorKind::kMatmul);
  scores.MakeOwn<MatmulAttributes>().transpose_second = true;
  const int product = builder.Add(std::move(scores), {}, {query, key}).value();
  Operator softmax = OfKind(OperatorKind::kSoftmax);
  softmax.axes = {2};
  const int attention = builder.Add(std::move(softmax), {}, {product}).value();
  builder.Add(OfKind(OperatorKind::kMatmul), {}, {attention, value}).value();
  return std::move(builder).Build();
}

}  // namespace

Graph RandomBatch(Random& random) {
  const int64_t batch = random.Uniform(2, 4);
  const int64_t rows = random.Uniform(2, 8);
  return random.Chance(0.5) ? Images(random, batch, rows) : Attention(random, batch, rows);
}

}  // namespace tessera::graph
