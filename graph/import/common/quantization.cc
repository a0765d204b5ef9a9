// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/graph/import/common/node_attributes.h"
#include "tessera/graph/import/common/passes.h"
#include "tessera/graph/ops/definition.h"

// A file that is quantised by pairs of conversions computes in real numbers and rounds in between:
//
//     conv -> x -> quantize -> q -> dequantize -> y -> relu
//
// This means a convolution that writes x in q's type and a relu that reads it in that type. A
// conversion without its pair is real, and the operator before it performs it, unless all readers
// of the result are themselves quantised: then they read q.
//
// Rounding commutes with operators that only move elements or select among them (reshape,
// transpose, slice, concat, max pool, ...): move(dequantize(q)) = dequantize(move(q)). So such an
// operator has the quantised type of its operand, or of the tensor made from its result, although
// the file has no conversion next to it:
//
//     conv -> x -> quantize -> dequantize -> flatten -> y -> gemm      y has the type of x
//
// Two conversions cancel only if they round in the same way. If the file states that they do not,
// the second one is a requantisation and stays. Files without weights do not state it; their
// conversions are assumed to round in the same way.
//
// Each pass is linear in the operators. The search for the readers of a lone conversion repeats
// until it is stable, once more for each conversion of a concatenation that is excluded.
namespace tessera::graph::import::common {
namespace {

using base::DataType;
using base::OperatorKind;

bool IsConversion(const Operator& op, std::string_view function) {
  return op.kind == OperatorKind::kElementwise && op.function == function;
}

// Whether each element of the result is an element of an input, or a constant.
bool MovesElements(const Operator& op) {
  return ops::SelectsElements(op) || IsConversion(op, "identity");
}

std::string TextOfType(DataType type) { return std::string(base::NameOf(type)); }

class TypeSetter {
 public:
  explicit TypeSetter(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    ForEach("quantize", [this](int op) { TakeOutPairs(op); });
    ReadWithoutConversion();
    MoveTypesOn();
    ForEach("quantize", [this](int op) { Settle(op); });
    ForEach("dequantize", [this](int op) { DoBefore(op); });
    MoveTypesBack();
    MoveTypesOn();
    links_.Compact();
  }

 private:
  template <typename Action>
  void ForEach(std::string_view function, const Action& act) {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (!links_.IsGone(op) && IsConversion(links_.At(op), function)) act(op);
    }
  }

  const Tensor& TensorAt(int tensor) const { return links_.TensorAt(tensor); }
  int InputOf(int op) const { return links_.At(op).inputs.front(); }
  int ResultOf(int op) const { return links_.At(op).outputs.front(); }
  bool IsQuantised(int tensor) const { return !IsFloating(TensorAt(tensor).type); }

  const Rounding* RoundingOf(int op) const {
    const auto found = draft_.roundings.find(links_.At(op).id);
    return found == draft_.roundings.end() ? nullptr : &found->second;
  }

  // The rounding of a tensor's elements, if a conversion states it.
  const Rounding* RoundingOfTensor(int tensor) const {
    const auto found = roundings_.find(tensor);
    return found == roundings_.end() ? nullptr : found->second;
  }

  static bool MayAgree(const Rounding* a, const Rounding* b) {
    if (a == nullptr || b == nullptr) return true;
    const bool scales = !a->scale || !b->scale || *a->scale == *b->scale;
    return scales && (!a->zero || !b->zero || *a->zero == *b->zero);
  }

  // All readers of q, if they are inverse conversions with the same rounding; otherwise none.
  std::vector<int> FindPairs(int op) const {
    const int q = ResultOf(op);
    const std::set<int>& readers = links_.ReadersOf(q);
    const bool all = std::all_of(readers.begin(), readers.end(), [&](int reader) {
      return IsConversion(links_.At(reader), "dequantize") &&
             MayAgree(RoundingOf(op), RoundingOf(reader));
    });
    if (!all || TensorAt(q).network_output) return {};
    return {readers.begin(), readers.end()};
  }

  // Whether the conversion's operand is already rounded, in another way.
  bool Requantises(int op) const {
    const int x = InputOf(op);
    return IsQuantised(x) && (TensorAt(x).type != TensorAt(ResultOf(op)).type ||
                              !MayAgree(RoundingOfTensor(x), RoundingOf(op)));
  }

  void TakeOutPairs(int op) {
    const int x = InputOf(op);
    const int q = ResultOf(op);
    const std::vector<int> pairs = FindPairs(op);
    const bool is_output = std::any_of(pairs.begin(), pairs.end(), [&](int pair) {
      return TensorAt(ResultOf(pair)).network_output;
    });
    if (pairs.empty()) return;
    if (Requantises(op)) {
      roundings_[q] = RoundingOf(op);
      for (const int pair : pairs)
        TakeOut(pair, q, TensorAt(q).id + " is " + TextOfType(TensorAt(q).type));
      return;
    }
    if (!links_.OnlyReads(op, x) || (is_output && links_.MakerOf(x) < 0)) return;
    Tensor& before = links_.TensorAt(x);
    before.type = TensorAt(q).type;
    roundings_[x] = RoundingOf(op);
    const std::string typed = before.id + " is " + TextOfType(before.type);
    draft_.report.Remove(Report::Event::kTyped, links_.At(op).id, typed);
    if (before.network_input)
      draft_.report.Add(Report::Event::kAssumed, before.id,
                        "it is handed in as " + TextOfType(before.type) + ", already quantised");
    for (const int pair : pairs) TakeOut(pair, x, typed, /*quiet=*/true);
    links_.Bypass(q, x);
  }

  // Readers of the conversion's result read x instead. If the result leaves the network, x leaves
  // under its name. If x already leaves under its own name, the conversion is a copy.
  void TakeOut(int op, int x, const std::string& why, bool quiet = false) {
    const int y = ResultOf(op);
    if (TensorAt(y).network_output) {
      const std::string type = TextOfType(TensorAt(x).type);
      if (TensorAt(y).type != TensorAt(x).type)
        draft_.report.Add(Report::Event::kAssumed, TensorAt(y).id,
                          "it is handed out as " + type + ", still quantised");
      if (TensorAt(x).network_output || links_.MakerOf(x) < 0) return BecomeCopy(op, x);
      links_.TensorAt(x).network_output = true;
      links_.TensorAt(y).network_output = false;
      std::swap(links_.TensorAt(x).id, links_.TensorAt(y).id);
      std::swap(links_.TensorAt(x).annotations, links_.TensorAt(y).annotations);
      std::swap(links_.TensorAt(x).next_of, links_.TensorAt(y).next_of);
    }
    draft_.report.Remove(Report::Event::kTyped, links_.At(op).id, why, quiet);
    links_.Bypass(y, x);
  }

  void BecomeCopy(int op, int x) {
    links_.TensorAt(ResultOf(op)).type = TensorAt(x).type;
    links_.At(op).function = "identity";
    links_.ReadInstead(op, InputOf(op), x);
  }

  // Lone inverse conversions whose readers are all quantised: the largest set in which each such
  // reader has only such operands.
  void ReadWithoutConversion() {
    std::set<int> ops;
    ForEach("dequantize", [&](int op) { ops.insert(op); });
    for (bool stable = false; !stable;) {
      stable = std::erase_if(ops, [&](int op) { return !IsReadQuantised(ResultOf(op), ops); }) == 0;
    }
    for (const int op : ops) {
      const int q = InputOf(op);
      if (RoundingOf(op) != nullptr) roundings_.emplace(q, RoundingOf(op));
      TakeOut(op, q, "what reads it reads " + TensorAt(q).id);
    }
  }

  // Whether all readers of the tensor are quantised if the conversions in `ops` are left out.
  bool IsReadQuantised(int tensor, const std::set<int>& ops) const {
    const std::set<int>& readers = links_.ReadersOf(tensor);
    if (readers.empty() || TensorAt(tensor).network_output) return false;
    return std::all_of(readers.begin(), readers.end(), [&](int reader) {
      const Operator& op = links_.At(reader);
      if (IsConversion(op, "quantize")) return true;
      if (!MovesElements(op)) return IsWrittenQuantised(op);
      const bool all = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int input) {
        return input == tensor || IsQuantised(input) || ops.count(links_.MakerOf(input)) > 0;
      });
      return all && (IsWrittenQuantised(op) || IsReadQuantised(op.outputs.front(), ops));
    });
  }

  // Whether the operator's result is quantised, immediately or after elementwise operators on it.
  bool IsWrittenQuantised(const Operator& op) const {
    constexpr int kMostBehind = 4;
    const Operator* writer = &op;
    for (int behind = 0; behind <= kMostBehind; ++behind) {
      if (writer->kind == OperatorKind::kOpaque) return false;
      const int result = writer->outputs.front();
      if (IsQuantised(result)) return true;
      const std::set<int>& readers = links_.ReadersOf(result);
      if (readers.empty() || TensorAt(result).network_output) return false;
      const bool rounded = std::all_of(readers.begin(), readers.end(), [this](int reader) {
        return IsConversion(links_.At(reader), "quantize");
      });
      if (rounded) return true;
      const Operator& next = links_.At(*readers.begin());
      if (readers.size() > 1 || next.kind != OperatorKind::kElementwise || next.inputs.size() > 1)
        return false;
      writer = &next;
    }
    return false;
  }

  // A lone conversion to a quantised type.
  void Settle(int op) {
    const int x = InputOf(op);
    const DataType type = TensorAt(ResultOf(op)).type;
    if (TensorAt(x).type == type) {
      if (MayAgree(RoundingOfTensor(x), RoundingOf(op)))
        TakeOut(op, x, TensorAt(x).id + " is " + TextOfType(type));
    } else if (MayBeRounded(op, x)) {
      links_.TensorAt(x).type = type;
      roundings_[x] = RoundingOf(op);
      TakeOut(op, x, TensorAt(x).id + " is " + TextOfType(type));
    } else {
      DoBefore(op);
    }
  }

  // Whether the maker of x only moves elements of one tensor that an operator computes for it
  // alone.
  bool MayBeRounded(int op, int x) const {
    int reader = op;
    for (int tensor = x;; tensor = InputOf(reader)) {
      const int maker = links_.MakerOf(tensor);
      if (!IsFloating(TensorAt(tensor).type) || maker < 0 || !links_.OnlyReads(reader, tensor))
        return false;
      const Operator& makes = links_.At(maker);
      if (makes.kind == OperatorKind::kOpaque) return false;
      if (!MovesElements(makes) || makes.inputs.size() != 1) return reader != op;
      reader = maker;
    }
  }

  // The preceding operator writes the type of the conversion's result, if it computes and its
  // result has no other reader.
  void DoBefore(int op) {
    const int x = InputOf(op);
    const int maker = links_.MakerOf(x);
    if (maker < 0 || !links_.OnlyReads(op, x) || links_.At(maker).outputs.size() != 1) return;
    const OperatorKind kind = links_.At(maker).kind;
    if (kind == OperatorKind::kOpaque || base::TraitsOf(kind).moves_data) return;
    draft_.report.Join(Report::Event::kTyped, links_.At(op).id, links_.At(maker).id,
                       "done by " + links_.At(maker).id);
    links_.Absorb(maker, {op});
  }

  // Operators that move elements write the quantised type that they read.
  void MoveTypesOn() {
    for (int i = 0; i < links_.CountOperators(); ++i) {
      const Operator& op = links_.At(i);
      if (links_.IsGone(i) || !MovesElements(op) || IsQuantised(ResultOf(i))) continue;
      const DataType type = TensorAt(op.inputs.front()).type;
      const Rounding* rounding = RoundingOfTensor(op.inputs.front());
      const bool alike = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int input) {
        return TensorAt(input).type == type && MayAgree(rounding, RoundingOfTensor(input));
      });
      if (IsFloating(type) || !alike) continue;
      Tensor& result = links_.TensorAt(ResultOf(i));
      result.type = type;
      if (rounding != nullptr) roundings_.emplace(ResultOf(i), rounding);
      if (result.network_output)
        draft_.report.Add(Report::Event::kAssumed, result.id,
                          "it is handed out as " + TextOfType(type) + ", still quantised");
    }
  }

  // A tensor that is made only for such operators is made in the type that they write.
  void MoveTypesBack() {
    for (int i = links_.CountOperators(); i-- > 0;) {
      if (links_.IsGone(i) || !MovesElements(links_.At(i)) || !IsQuantised(ResultOf(i))) continue;
      for (const int input : links_.At(i).inputs) {
        const int maker = links_.MakerOf(input);
        const bool made_for_it = maker >= 0 && links_.OnlyReads(i, input) &&
                                 links_.At(maker).kind != OperatorKind::kOpaque;
        if (made_for_it && IsFloating(TensorAt(input).type))
          links_.TensorAt(input).type = TensorAt(ResultOf(i)).type;
      }
    }
  }

  Draft& draft_;
  Links links_;
  std::map<int, const Rounding*> roundings_;  // by tensor
};

}  // namespace

void SetDataTypes(Draft& draft) { TypeSetter(draft).Run(); }

}  // namespace tessera::graph::import::common
