// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"

// The independent judge of "infeasible": no plan is refused without it. It shares no code with the
// search.
namespace tessera::plan::verify::infeasibility {

// A proof that the Problem has no placement within the given bytes of memories[0], in the format of
// problem::proof::CheckProof.
struct PlacementProof {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  std::string text;
};

// Why no plan exists.
struct Refutation {
  std::string argument;  // in words
  // of the operators that were enumerated; 0 if the argument holds for all orders
  int64_t orders = 0;
  int64_t intervals = 0;  // of operators, over all orders, equal ones counted once
  // tile configurations that only a proof about placements, or the path through the network, rules
  // out
  int64_t configs = 0;
  std::vector<PlacementProof> proofs;  // each accepted by the checker
};

// The result: a refutation, or the gap in it.
struct RefutationResult {
  std::optional<Refutation> refutation;
  std::string gap;
};

// Returns the text of a PlacementProof, or nothing. The text is checked.
using FindProof = std::function<std::optional<std::string>(const problem::Problem& problem,
                                                           problem::Bytes capacity)>;

// The limits of the effort: tiles times operators times policies, and Problems for which a proof is
// requested.
struct Effort {
  int64_t work = 600'000;
  int64_t proofs = 3'000;
};

// Decides whether the network of `question` has no plan on its profile that satisfies the limits of
// its objective and its constraints. Uses these parts of the question: network, profile,
// objective.limits, constraints, and of `run` searches_order, keeps_boundaries, prefetches and
// off_chip. Operators are in the order of the file. Never throws.
RefutationResult Judge(const Plan& question, const FindProof& find_proof, const base::Stop& stop,
                       const Effort& effort = {});

// Tries only the arguments of Judge that take time linear in the network and need no proofs about
// placements. Returns the first that holds; empty if none does. Never throws.
std::string FindQuickArgument(const Plan& question);

// Problems for which proofs were requested, and the proofs that the checker accepted.
class Placements {
 public:
  Placements(const FindProof& find_proof, int64_t most) : find_proof_(find_proof), most_(most) {}

  // Whether the Problem has no placement within the given bytes, by a proof that the checker
  // accepted. Each Problem is tried once.
  bool AreImpossible(const problem::Problem& problem, problem::Bytes capacity);

  // Whether no more proofs may be requested.
  bool AreSpent() const { return asked_ >= most_; }

  std::vector<PlacementProof> TakeProofs() { return std::move(proofs_); }

 private:
  const FindProof& find_proof_;
  const int64_t most_;
  int64_t asked_ = 0;
  std::map<std::string, bool> known_;  // by text
  std::vector<PlacementProof> proofs_;
};

// All orders of the operators in which each comes after the makers of its operands, with the order
// of the file first. nullopt if there are more than `most`. State imposes no order here, so some of
// these orders may be impossible for a plan.
std::optional<std::vector<std::vector<int>>> OrdersOf(const graph::Graph& network, size_t most);

// The content of refutation.json: the question, and in words why it has no plan
// (docs/certificate-format.md). The proofs about placements are certificates of their own, in the
// same folder.
std::string WriteRefutation(const Plan& question, const Refutation& refutation);

// The content of such a document.
struct Document {
  Plan question;           // those parts of a Plan that Judge uses
  Refutation stated;       // except for its proofs
  int64_t placements = 0;  // the number of these proofs
};

// `file` is used in messages only.
base::Expected<Document> ReadRefutation(std::string_view text, std::string file);

// The difference between the stated refutation and the one that was found, in words; empty if there
// is none.
std::string FindDifference(const Document& document, const Refutation& found);

}  // namespace tessera::plan::verify::infeasibility
