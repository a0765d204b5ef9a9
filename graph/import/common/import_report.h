// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::common {

// The outcome of a node of the file in the graph.
enum class Fate : uint8_t {
  kOperator,  // separate operators of the graph
  // an opaque operator: its computation is unknown, or a known kind does not support one of its
  // operands
  kBarrier,
  kFused,   // part of operators that other nodes made
  kFolded,  // a constant that import computed
  kRemoved  // nothing, for a stated reason
};

struct NodeFate {
  int node = 0;      // index in the file
  std::string name;  // its own name, or its first output if it has none
  std::string type;  // "Conv", "my.domain:Warp"
  Fate fate = Fate::kRemoved;
  // ids in the graph: the operators that it became, or of which it is part
  std::vector<std::string> operators;
  std::string reason;  // kBarrier, kRemoved: the reason; kFused: the name of the fused function
};

// One line that lists every node: "3 nodes of the file: c (Conv) is operator c; ...".
std::string TextOf(const std::vector<NodeFate>& nodes);

// Records what happens to the nodes of a file during import. Nodes are identified by their index in
// the file, operators by their ids, which are unique in a draft.
class Report {
 public:
  enum class Event : uint8_t {
    kGiven,    // a Constant of the file
    kFolded,   // a constant that import computed
    kDropped,  // has no effect, or no output depends on it
    kFused,    // became part of another operator
    kTyped,    // only sets data types
    kCopied,   // moves data, because another operator needs the copy
    kState,
    kAssumed,  // an assumption about the meaning of an operator
    kFenced    // a barrier
  };

  // Sets the node that the following events concern; null: no node.
  void Begin(const Node* node) { node_ = node == nullptr ? -1 : node->index; }
  void Add(Event event, const Node& node, std::string detail);
  void Add(Event event, std::string name, std::string detail);

  // The current node made an operator.
  void Made(const std::string& op);
  // An operator is removed: merged into another one, or for a reason. Lines reports it unless
  // `quiet`.
  void Join(Event event, const std::string& op, const std::string& into, std::string detail);
  void Remove(Event event, const std::string& op, std::string why, bool quiet = false);

  // One line for each barrier, each state and each assumption, and one line for each other kind of
  // event. The latter contains the first `most_names` names that it concerns, and the number of the
  // others.
  std::vector<std::string> Lines(size_t most_names) const;

  // Every node of the file once, in its order. `graph` is the finished graph.
  std::vector<NodeFate> Fates(const Model& model, const Graph& graph) const;

  // The name of a node's operators: the node's name, or its first output if it has none.
  static std::string NameOf(const Node& node);

  // The state of the report, for Rewind when a node is added in another form.
  struct Mark {
    size_t entries = 0;
  };
  Mark Here() const { return {entries_.size()}; }
  void Rewind(Mark mark);

 private:
  struct Entry {
    Event event;
    std::string name;
    std::string detail;
    int node = -1;
  };
  struct End {
    std::string into;  // the operator into which it was merged; empty: none
    std::string why;
  };
  // The operator that performs the function of `op`, or null.
  const std::string* Heir(const std::string& op) const;
  NodeFate FateOf(const Node& node, const std::set<std::string>& standing) const;

  std::vector<Entry> entries_;
  int node_ = -1;
  std::map<int, Entry> own_;  // of the node itself, not of its operators: the last one
  std::map<int, std::vector<std::string>> made_;  // operators by node
  std::map<std::string, End> ends_;               // by operator
};

}  // namespace tessera::graph::import::common
