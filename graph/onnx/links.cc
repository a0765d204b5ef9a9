#include "tessera/graph/onnx/links.h"

#include <algorithm>
#include <utility>

namespace tessera::graph::onnx {

Links::Links(Graph& graph)
    : graph_(&graph),
      makers_(graph.tensors.size(), -1),
      readers_(graph.tensors.size()),
      gone_(graph.operators.size(), false) {
  for (int i = 0; i < CountOperators(); ++i) {
    for (const int tensor : At(i).inputs) readers_[static_cast<size_t>(tensor)].insert(i);
    for (const int tensor : At(i).weights) readers_[static_cast<size_t>(tensor)].insert(i);
    for (const int tensor : At(i).outputs) makers_[static_cast<size_t>(tensor)] = i;
  }
}

bool Links::OnlyReads(int op, int tensor) const {
  return !TensorAt(tensor).network_output && ReadersOf(tensor) == std::set<int>{op};
}

void Links::Remove(int op) {
  for (const int tensor : At(op).inputs) readers_[static_cast<size_t>(tensor)].erase(op);
  for (const int tensor : At(op).weights) readers_[static_cast<size_t>(tensor)].erase(op);
  for (const int tensor : At(op).outputs) makers_[static_cast<size_t>(tensor)] = -1;
  gone_[static_cast<size_t>(op)] = true;
}

void Links::Absorb(int maker, const std::vector<int>& ops) {
  const std::vector<int> outputs = At(ops.back()).outputs;
  for (const int op : ops) Remove(op);
  for (const int tensor : At(maker).outputs) makers_[static_cast<size_t>(tensor)] = -1;
  for (const int tensor : outputs) makers_[static_cast<size_t>(tensor)] = maker;
  At(maker).outputs = outputs;
}

void Links::Bypass(int from, int to) {
  Remove(MakerOf(from));
  std::set<int>& readers = readers_[static_cast<size_t>(from)];
  for (const int reader : readers) {
    std::replace(At(reader).inputs.begin(), At(reader).inputs.end(), from, to);
    readers_[static_cast<size_t>(to)].insert(reader);
  }
  readers.clear();
}

void Links::ReadInstead(int op, int from, int to) {
  std::replace(At(op).inputs.begin(), At(op).inputs.end(), from, to);
  readers_[static_cast<size_t>(from)].erase(op);
  readers_[static_cast<size_t>(to)].insert(op);
}

void Links::Compact() {
  std::vector<Operator> rest;
  for (int i = 0; i < CountOperators(); ++i) {
    if (!IsGone(i)) rest.push_back(std::move(At(i)));
  }
  graph_->operators = std::move(rest);
  *this = Links(*graph_);
}

}  // namespace tessera::graph::onnx
