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

// A proof that the Problem has no placement within so many bytes of memories[0], as
// problem::proof::CheckProof reads it.
struct PlacementProof {
  problem::Problem problem;
  problem::Bytes capacity = 0;
  std::string text;
};

// Why no plan exists.
struct Refutation {
  std::string argument;  // in words
  int64_t orders =
      0;  // of the operators that were listed; 0 where the argument holds for all of them
  int64_t intervals = 0;  // of operators, over all orders, alike ones once
  int64_t configs =
      0;  // to run them, that only a proof about placements, or the way through the network, rules out
  std::vector<PlacementProof> proofs;  // each accepted by the checker
};

// What came of it: a refutation, or what it lacks.
struct Judgement {
  std::optional<Refutation> refutation;
  std::string gap;
};

// Gives the text of a PlacementProof, or nothing. What it gives is checked.
using FindProof = std::function<std::optional<std::string>(const problem::Problem& problem,
                                                           problem::Bytes capacity)>;

// How much may be looked at: tiles times operators times policies, and Problems for which a proof
// is asked.
struct Effort {
  int64_t work = 3'000'000;
  int64_t proofs = 3'000;
};

// Judges whether the network of `question` has no plan on its profile that keeps the limits of its
// objective and its constraints. Of the question these count: network, profile, objective.limits,
// constraints, and of `run` searches_order, keeps_boundaries and prefetches. Operators are
// in the order of the file. Never throws.
Judgement Judge(const Plan& question, const FindProof& find_proof, const base::Stop& stop,
                const Effort& effort = {});

// Problems for which proofs were asked, and the proofs that the checker accepted.
class Placements {
 public:
  Placements(const FindProof& find_proof, int64_t most) : find_proof_(find_proof), most_(most) {}

  // Whether the Problem has no placement within so many bytes, by a proof that the checker
  // accepted. Asked once for each Problem.
  bool AreImpossible(const problem::Problem& problem, problem::Bytes capacity);

  // Whether no more may be asked.
  bool AreSpent() const { return asked_ >= most_; }

  std::vector<PlacementProof> TakeProofs() { return std::move(proofs_); }

 private:
  const FindProof& find_proof_;
  const int64_t most_;
  int64_t asked_ = 0;
  std::map<std::string, bool> known_;  // by text
  std::vector<PlacementProof> proofs_;
};

// All orders of the operators in which each comes behind those that make what it reads, the order
// of the file first; nullopt where there are more than `most`. What becomes of a state asks for no
// order here, so some may be orders that no plan can have.
std::optional<std::vector<std::vector<int>>> OrdersOf(const graph::Graph& network, size_t most);

// What refutation.json says: the question, and in words why it has no plan
// (docs/certificate-format.md). The proofs about placements are certificates of their own, in the
// same folder.

std::string WriteRefutation(const Plan& question, const Refutation& refutation);

// What such a document states.
struct Document {
  Plan question;           // those parts of a Plan that Judge looks at
  Refutation stated;       // but for its proofs...
  int64_t placements = 0;  // ... which are counted
};

// `file` is for messages.
base::Expected<Document> ReadRefutation(std::string_view text, std::string file);

// Where the document states another refutation than was found, in words; empty if it does not.
std::string FindDifference(const Document& document, const Refutation& found);

}  // namespace tessera::plan::verify::infeasibility
