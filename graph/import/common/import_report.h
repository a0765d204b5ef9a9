#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/source_model.h"

namespace tessera::graph::import::common {

// What a node of the file is in the graph.
enum class Fate : uint8_t {
  kOperator,  // operators of its own
  kBarrier,  // an opaque operator: what it computes is unknown, or one of its operands has no place in a known kind
  kFused,    // part of operators that other nodes made
  kFolded,   // a constant that import worked out itself
  kRemoved   // nothing, for a reason
};

struct NodeFate {
  int node = 0;      // index in the file
  std::string name;  // its own, or its first output where it has none
  std::string type;  // "Conv", "my.domain:Warp"
  Fate fate = Fate::kRemoved;
  std::vector<std::string> operators;  // ids in the graph: what it became, or what it is part of
  std::string reason;                  // kBarrier, kRemoved: why; kFused: as what
};

// One line that lists every node: "3 nodes of the file: c (Conv) is operator c; ...".
std::string TextOf(const std::vector<NodeFate>& nodes);

// What happens to the nodes of a file on their way into the graph. Nodes are known by their place
// in the file, operators by their ids, which no two operators of a draft share.
class Report {
 public:
  enum class Event : uint8_t {
    kGiven,    // a Constant of the file
    kFolded,   // a constant that import worked out itself
    kDropped,  // does nothing, or no output depends on it
    kFused,    // became part of another operator
    kTyped,    // set data types alone
    kState,
    kAssumed,  // what the reader should know of how an operator was understood
    kFenced    // a barrier
  };

  // What follows is about this node; null: about none.
  void Begin(const Node* node) { node_ = node == nullptr ? -1 : node->index; }
  void Add(Event event, const Node& node, std::string detail);
  void Add(Event event, std::string name, std::string detail);

  // The node that was begun made an operator.
  void Made(const std::string& op);
  // An operator vanishes: into another one, or for a reason. Lines tells of it unless `quiet`.
  void Join(Event event, const std::string& op, const std::string& into, std::string detail);
  void Remove(Event event, const std::string& op, std::string why, bool quiet = false);

  // One line for each barrier, each state and each assumption, and one for each other sort of event
  // with the names it befell; at most `most_names` of them, the rest counted.
  std::vector<std::string> Lines(size_t most_names) const;

  // Every node of the file once, in its order. `graph` is the finished graph.
  std::vector<NodeFate> Fates(const Model& model, const Graph& graph) const;

  // How operators of a node are called: its name, or its first output where it has none.
  static std::string NameOf(const Node& node);

  // The state of the report, to return to where a node is taken in another way.
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
    std::string into;  // the operator that took it in; empty: none
    std::string why;
  };
  // The operator that does what `op` did, or null.
  const std::string* Heir(const std::string& op) const;
  NodeFate FateOf(const Node& node, const std::set<std::string>& standing) const;

  std::vector<Entry> entries_;
  int node_ = -1;
  std::map<int, Entry> own_;  // of the node itself, not of its operators: the last one
  std::map<int, std::vector<std::string>> made_;  // operators by node
  std::map<std::string, End> ends_;               // by operator
};

}  // namespace tessera::graph::import::common
