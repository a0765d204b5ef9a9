#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/finding.h"

namespace tessera::plan::execute {

// How much was run.
struct Tally {
  int64_t tiles = 0;      // over all subgraphs
  int64_t steps = 0;      // each as often as it was executed
  int64_t operators = 0;  // runs of one
  int64_t transfers = 0;
  int64_t bytes_moved = 0;    // by transfers
  int64_t cells_checked = 0;  // of every read
};

// Who does what when, and what is wrong with it.
class Ledger {
 public:
  // Keeps at most `most` findings and counts the others. The network and the contents outlive it.
  Ledger(const graph::Graph& network, const Contents& contents, size_t most)
      : network_(network), contents_(contents), most_(most) {}

  void Enter(int64_t step, int64_t tile);

  // Who acts from here on, until the next Act; whatever is written meanwhile bears the number given
  // back.
  uint32_t ActOperator(int op);
  uint32_t ActTransfer(const std::string& link);
  uint32_t ActNobody();

  // One finding about `cells` cells, of which the first is `cell` (-1: none) and should hold
  // `expected` (kNothing: whatever); `story` follows "step 3, tile 1, operator 'a': ".
  void Note(FindingKind kind, Tag expected, int64_t cell, int64_t cells, const std::string& story);

  // "operator 'conv1' at step 3 for tile 1"
  std::string TextOfActor(uint32_t actor) const;

  Tally& Totals() { return tally_; }
  const Tally& Totals() const { return tally_; }
  std::vector<Finding> TakeFindings() { return std::move(findings_); }
  int64_t Found() const { return found_; }

 private:
  struct Actor {
    int64_t step = -1;  // -1: before the program
    int64_t tile = -1;
    int op = -1;
    std::string link;  // of a transfer
  };

  uint32_t Record(Actor actor);

  const graph::Graph& network_;
  const Contents& contents_;
  size_t most_;
  Actor at_;
  std::vector<Actor> actors_ = {{}};
  std::vector<Finding> findings_;
  int64_t found_ = 0;
  Tally tally_;
};

}  // namespace tessera::plan::execute
