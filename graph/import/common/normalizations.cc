// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/graph/import/common/passes.h"

// Before operator set 17 exporters write a layer normalisation as separate operators:
//
//     x --> mean --> x - m --> square --> mean --> + eps --> sqrt
//       --> (x - m) / s --> * scale --> + bias
//
// Each tensor after x is a term of such a formula. The function of its operator and the terms of
// its operands, in order, determine the term:
//
//     x          mean(x)  centred           squares        variance     deviation    result
//
// The variance may also be the mean of the squares less the square of the mean. A tensor that is no
// term ends the search: the operators stay as they are. The region from x to the result becomes one
// operator if no other operator reads its tensors. A normalisation without a mean stays as it is,
// because it is better to fuse its parts with other operators. Cost: linear in the operators, each
// region being small.
namespace tessera::graph::import::common {

namespace {

using base::OperatorKind;

constexpr size_t kMostInNormalization = 14;

enum class Term {
  kNone,
  kInput,
  kMean,
  kCentred,
  kSquares,         // of the centred values
  kSquaresOfInput,  // of x
  kSquareOfMean,
  kVariance,    // with or without epsilon
  kMeanSquare,  // of x, with or without epsilon
  kDeviation,   // the root of the variance
  kInverseDeviation,
  kResult,
};

struct Product {
  std::string_view function;
  Term first;
  Term second;  // kNone: one operand, and perhaps a constant of one element
  Term made;
};

constexpr Product kProducts[] = {
    {"mean", Term::kInput, Term::kNone, Term::kMean},
    {"mean", Term::kSquares, Term::kNone, Term::kVariance},
    {"mean", Term::kSquaresOfInput, Term::kNone, Term::kMeanSquare},
    {"sub", Term::kInput, Term::kMean, Term::kCentred},
    {"square", Term::kCentred, Term::kNone, Term::kSquares},
    {"mul", Term::kCentred, Term::kCentred, Term::kSquares},
    {"square", Term::kInput, Term::kNone, Term::kSquaresOfInput},
    {"mul", Term::kInput, Term::kInput, Term::kSquaresOfInput},
    {"square", Term::kMean, Term::kNone, Term::kSquareOfMean},
    {"mul", Term::kMean, Term::kMean, Term::kSquareOfMean},
    {"sub", Term::kMeanSquare, Term::kSquareOfMean, Term::kVariance},
    {"add", Term::kVariance, Term::kNone, Term::kVariance},
    {"sqrt", Term::kVariance, Term::kNone, Term::kDeviation},
    {"rsqrt", Term::kVariance, Term::kNone, Term::kInverseDeviation},
    {"reciprocal", Term::kDeviation, Term::kNone, Term::kInverseDeviation},
    {"div", Term::kCentred, Term::kDeviation, Term::kResult},
    {"mul", Term::kCentred, Term::kInverseDeviation, Term::kResult},
    {"mul", Term::kInverseDeviation, Term::kCentred, Term::kResult},
};

class Gatherer {
 public:
  explicit Gatherer(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (links_.IsGone(op) || links_.At(op).inputs.empty()) continue;
      const Operator& first = links_.At(op);
      // The first reader of x in a normalisation makes a mean or squares.
      if (IsMean(first) || first.function == "square" || first.function == "mul")
        Gather(first.inputs.front());
    }
    links_.Compact();
  }

 private:
  struct Region {
    std::vector<int> ops;
    std::map<int, Term> terms;  // by tensor
    std::vector<int> axes;      // of the means
  };

  static bool IsMean(const Operator& op) {
    return op.kind == OperatorKind::kReduce && op.function == "mean";
  }

  // The term that the operator makes; kNone if no formula has it.
  static Term TermOf(const Operator& op, const Region& region) {
    const bool computes = op.kind == OperatorKind::kElementwise || IsMean(op);
    if (!computes || !op.weights.empty() || !op.activation.empty() || op.inputs.size() > 2)
      return Term::kNone;
    if (IsMean(op) && !region.axes.empty() && op.axes != region.axes) return Term::kNone;
    std::vector<Term> operands;
    for (const int input : op.inputs) {
      const auto term = region.terms.find(input);
      if (term == region.terms.end()) return Term::kNone;
      operands.push_back(term->second);
    }
    if (op.function == "cast" && operands.size() == 1) return operands.front();
    const Term second = operands.size() == 2 ? operands.back() : Term::kNone;
    for (const Product& product : kProducts) {
      if (product.function == op.function && product.first == operands.front() &&
          product.second == second)
        return product.made;
    }
    return Term::kNone;
  }

  // Whether only operators of the region read its results, apart from the last one. x itself may be
  // read outside, by the surrounding skip connection.
  bool IsClosed(const Region& region) const {
    return std::all_of(region.ops.begin(), region.ops.end() - 1, [&](int op) {
      const int tensor = links_.At(op).outputs.front();
      const std::set<int>& readers = links_.ReadersOf(tensor);
      return !links_.TensorAt(tensor).network_output &&
             std::all_of(readers.begin(), readers.end(), [&](int reader) {
               return std::find(region.ops.begin(), region.ops.end(), reader) != region.ops.end();
             });
    });
  }

  bool ReadsOnly(const Operator& op, int tensor) const {
    return std::all_of(op.inputs.begin(), op.inputs.end(),
                       [tensor](int input) { return input == tensor; });
  }

  // Grows from x by the first reader in the order of the program.
  std::optional<Region> FindRegion(int x) const {
    Region region{{}, {{x, Term::kInput}}, {}};
    std::set<int> next = links_.ReadersOf(x);
    while (!next.empty() && region.ops.size() < kMostInNormalization) {
      const int op = *next.begin();
      next.erase(next.begin());
      const Operator& reader = links_.At(op);
      const Term term = TermOf(reader, region);
      if (term == Term::kNone || term == Term::kInput) {
        const bool is_inside = std::any_of(reader.inputs.begin(), reader.inputs.end(), [&](int in) {
          return in != x && region.terms.contains(in);
        });
        if (!is_inside) continue;
        return std::nullopt;
      }
      if (IsMean(reader)) region.axes = reader.axes;
      const int made = reader.outputs.front();
      region.ops.push_back(op);
      region.terms.emplace(made, term);
      if (term == Term::kResult) {
        const bool is_whole = links_.TensorAt(made).shape == links_.TensorAt(x).shape;
        return is_whole && IsClosed(region) ? std::optional(std::move(region)) : std::nullopt;
      }
      const std::set<int>& readers = links_.ReadersOf(made);
      next.insert(readers.begin(), readers.end());
    }
    return std::nullopt;
  }

  void Gather(int x) {
    const std::optional<Region> region = FindRegion(x);
    if (!region) return;
    Operator& op = links_.At(region->ops.front());
    for (size_t i = 1; i < region->ops.size(); ++i)
      draft_.report.Join(Report::Event::kFused, links_.At(region->ops[i]).id, op.id,
                         "layer normalisation");
    links_.Absorb(region->ops.front(), {region->ops.begin() + 1, region->ops.end()});
    op.kind = OperatorKind::kLayerNorm;
    op.function.clear();
    op.axes = region->axes;
    op.inputs = {x};
  }

  Draft& draft_;
  Links links_;
};

}  // namespace

void GatherNormalizations(Draft& draft) { Gatherer(draft).Run(); }

}  // namespace tessera::graph::import::common
