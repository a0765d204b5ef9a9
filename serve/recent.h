// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <utility>

namespace tessera::serve {

// A cache of values by text, with limits on the number of values and on their bytes. If space is
// short, the least recently used are dropped first.
template <typename Value>
class Recent {
 public:
  Recent(size_t most_values, size_t most_bytes)
      : most_values_(most_values), most_bytes_(most_bytes) {}

  // Returns the value with the same key, or else that of `make`, a Result, which is then kept,
  // unless it alone is too large. `bytes` is the approximate size of the value without the key.
  template <typename Make>
  auto FindOr(const std::string& key, size_t bytes, const Make& make) -> decltype(make()) {
    for (auto at = values_.begin(); at != values_.end(); ++at) {
      if (at->key != key) continue;
      values_.splice(values_.begin(), values_, at);
      return at->value;
    }
    auto value = make();
    bytes += key.size() + sizeof(Entry);
    if (!value || bytes > most_bytes_) return value;
    while (values_.size() >= most_values_ || bytes_ + bytes > most_bytes_) {
      bytes_ -= values_.back().bytes;
      values_.pop_back();
    }
    values_.push_front({key, *value, bytes});
    bytes_ += bytes;
    return value;
  }

  void Clear() {
    values_.clear();
    bytes_ = 0;
  }

  size_t Count() const { return values_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
    size_t bytes;
  };

  const size_t most_values_;
  const size_t most_bytes_;
  size_t bytes_ = 0;
  std::list<Entry> values_;  // most recently used first
};

}  // namespace tessera::serve
