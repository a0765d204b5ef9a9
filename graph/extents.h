#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::graph {

using Extents = std::vector<int64_t>;  // elements along each axis of a tensor

// Extents that somebody else keeps.
class ExtentsView : public std::span<const int64_t> {
 public:
  using std::span<const int64_t>::span;
  friend bool operator==(ExtentsView a, ExtentsView b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
};

inline int64_t ElementsOf(ExtentsView extents) {
  int64_t elements = 1;
  for (const int64_t extent : extents) elements *= extent;
  return elements;
}

// Extents of several tensors end to end: tiles have classes in great numbers, and each class many tensors.
class ExtentsList {
 public:
  void Reserve(size_t tensors, size_t axes) {
    ends_.reserve(tensors);
    values_.reserve(axes);
  }

  bool empty() const { return ends_.empty(); }
  size_t size() const { return ends_.size(); }
  ExtentsView operator[](size_t tensor) const {
    const size_t begin = tensor == 0 ? 0 : ends_[tensor - 1];
    return {values_.data() + begin, ends_[tensor] - begin};
  }

  // An axis of the tensor to be, and then the tensor itself, behind those that are there.
  void AddAxis(int64_t extent) { values_.push_back(extent); }
  void EndTensor() { ends_.push_back(values_.size()); }
  void Add(ExtentsView extents) {
    values_.insert(values_.end(), extents.begin(), extents.end());
    EndTensor();
  }

  friend auto operator<=>(const ExtentsList&, const ExtentsList&) = default;

 private:
  std::vector<int64_t> values_;
  std::vector<size_t> ends_;
};

}  // namespace tessera::graph
