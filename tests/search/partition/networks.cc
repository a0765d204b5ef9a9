// SPDX-License-Identifier: Apache-2.0

#include "networks.h"

#include <map>
#include <utility>
#include <vector>

#include "tessera/tests/search/cost/small_machine.h"

namespace tessera::search {

graph::Graph AnyNetwork(base::Random& random, int operators) {
  NetworkBuilder net;
  const int64_t channels = random.Uniform(1, 3);
  int last = net.Input({1, channels, random.Uniform(2, 4), random.Uniform(1, 3)});
  int before = -1;
  for (int i = 0; i < operators; ++i) {
    if (before >= 0 && random.Chance(0.4)) {
      last = net.Add(before, last);
      before = -1;
    } else {
      before = last;
      last = net.Conv(last, random.Chance(0.5) ? 3 : 1, channels);
    }
  }
  return net.Finish(last);
}

Subject AnySubject(uint64_t seed, Range operators, Range bytes) {
  base::Random random(seed);
  graph::Graph graph =
      AnyNetwork(random, static_cast<int>(random.Uniform(operators.least, operators.most)));
  const auto dma = random.Chance(0.5) ? hw_profiles::DmaSteps::kSerialized
                                      : hw_profiles::DmaSteps::kDoubleBuffered;
  Subject subject = {std::move(graph), SmallMachine(dma, random.Uniform(bytes.least, bytes.most))};
  subject.profile.tiling.may_serialize =
      dma == hw_profiles::DmaSteps::kDoubleBuffered && random.Chance(0.4);
  return subject;
}

graph::Graph ForkedNetwork(base::Random& random, int operators) {
  NetworkBuilder net;
  const int64_t channels = random.Uniform(1, 3);
  std::vector<int> results = {net.Input({1, channels, random.Uniform(2, 4), random.Uniform(1, 3)})};
  std::vector<int> loose = results;  // results without a reader so far
  const auto read_any = [&] {
    const auto at =
        static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(results.size()) - 1));
    std::erase(loose, results[at]);
    return results[at];
  };
  int count = 0;
  const auto note = [&](int result) {
    results.push_back(result);
    loose.push_back(result);
    ++count;
  };
  while (count + static_cast<int>(loose.size()) - 1 < operators) {
    const int first = read_any();
    note(random.Chance(0.3) ? net.Add(first, read_any())
                            : net.Conv(first, random.Chance(0.5) ? 3 : 1, channels));
  }
  while (loose.size() > 1) {
    const int first = loose.back();
    loose.pop_back();
    const int second = loose.back();
    loose.pop_back();
    note(net.Add(first, second));
  }
  return net.Finish(loose.front());
}

graph::Graph Chain(int operators) {
  NetworkBuilder net;
  int last = net.Input({1, 2, 8, 4});
  for (int i = 0; i < operators; ++i) last = net.Conv(last, 3, 2);
  return net.Finish(last);
}

graph::Graph WindowOf(const graph::Graph& graph, graph::Interval window) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  graph::Graph part;
  part.name = graph.name;
  std::map<int, int> numbers;
  const auto take = [&](std::vector<int>& tensors) {
    for (int& tensor : tensors) {
      const auto [number, fresh] =
          numbers.try_emplace(tensor, static_cast<int>(part.tensors.size()));
      if (fresh) {
        const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
        graph::Tensor& taken =
            part.tensors.emplace_back(graph.tensors[static_cast<size_t>(tensor)]);
        taken.network_input = !taken.constant && usage.producer < window.first;
        taken.network_output = taken.network_output || (usage.producer >= window.first &&
                                                        usage.consumers.back() > window.last);
      }
      tensor = number->second;
    }
  };
  for (int op = window.first; op <= window.last; ++op) {
    graph::Operator& taken = part.operators.emplace_back(graph.operators[static_cast<size_t>(op)]);
    take(taken.inputs);
    take(taken.weights);
    take(taken.outputs);
  }
  return part;
}

Subject WideSum(problem::Bytes capacity) {
  Subject subject{{}, SmallMachine(hw_profiles::DmaSteps::kSerialized, capacity)};
  graph::Graph& graph = subject.graph;
  for (const auto& [id, shape] : {std::pair("x", graph::Shape{1, 20, 10, 10}),
                                  std::pair("filters", graph::Shape{2, 20, 3, 3}),
                                  std::pair("y", graph::Shape{1, 2, 2, 2})}) {
    graph::Tensor& tensor = graph.tensors.emplace_back();
    tensor.id = id;
    tensor.shape = shape;
  }
  graph.tensors[0].network_input = graph.tensors[1].constant = true;
  graph.tensors[2].network_output = true;
  graph::Operator& conv = graph.operators.emplace_back();
  conv.id = "conv";
  conv.kind = base::OperatorKind::kConv;
  conv.window.kernel = {3, 3};
  conv.window.dilation = {4, 4};
  conv.inputs = {0};
  conv.weights = {1};
  conv.outputs = {2};
  subject.profile.tiling.weights = {hw_profiles::WeightPolicy::kResident};
  hw_profiles::Throughput moves;
  moves.kind = base::OperatorKind::kReshape;
  subject.profile.engines.front().throughputs.push_back(moves);
  return subject;
}

}  // namespace tessera::search
