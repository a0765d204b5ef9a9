#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/graph/onnx/model.h"

namespace tessera::graph::onnx {

// What happened to the nodes of a file that did not become an operator of their own.
class Report {
 public:
  enum class Event : uint8_t {
    kFolded,   // a constant that import worked out itself
    kDropped,  // does nothing, or nobody reads it
    kFused,    // became part of another operator
    kTyped,    // set data types alone
    kState,
    kAssumed,  // what the reader should know of how an operator was understood
    kFenced    // a barrier
  };

  void Add(Event event, const Node& node, std::string detail) { Add(event, NameOf(node), std::move(detail)); }
  void Add(Event event, std::string name, std::string detail);

  // One line for each barrier, each state and each assumption, and one for each other sort of event with the names it befell; at
  // most `most_names` of them, the rest counted.
  std::vector<std::string> Lines(size_t most_names) const;

  // How operators of a node are called: its name, or its first output where it has none.
  static std::string NameOf(const Node& node);

 private:
  struct Entry {
    Event event;
    std::string name;
    std::string detail;
  };
  std::vector<Entry> entries_;
};

}  // namespace tessera::graph::onnx
