#include <algorithm>

#include "tessera/graph/onnx/links.h"
#include "tessera/graph/onnx/passes.h"

// A file that is quantised in pairs computes in real numbers and rounds between:
//
//     conv -> x -> quantize -> q -> dequantize -> y -> relu
//
// means a convolution that writes x in q's type and a relu that reads it so. Without its pair a conversion is a real one.
namespace tessera::graph::onnx {
namespace {

bool IsConversion(const Operator& op, std::string_view function) {
  return op.kind == base::OperatorKind::kElementwise && op.function == function;
}

class TypeSetter {
 public:
  explicit TypeSetter(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (!links_.IsGone(op) && IsConversion(links_.At(op), "quantize")) Quantize(op);
    }
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (!links_.IsGone(op) && IsConversion(links_.At(op), "dequantize")) DoBefore(op);
    }
    links_.Compact();
  }

 private:
  // All that read q, where they are conversions back; else none.
  std::vector<int> FindPairs(int q) const {
    const std::set<int>& readers = links_.ReadersOf(q);
    const bool all = std::all_of(readers.begin(), readers.end(),
                                 [&](int reader) { return IsConversion(links_.At(reader), "dequantize"); });
    if (!all || links_.TensorAt(q).network_output) return {};
    return {readers.begin(), readers.end()};
  }

  void Quantize(int op) {
    const int x = links_.At(op).inputs.front();
    const int q = links_.At(op).outputs.front();
    const std::vector<int> pairs = FindPairs(q);
    if (pairs.empty()) return DoBefore(op);
    Tensor& before = links_.TensorAt(x);
    const bool is_output = std::any_of(pairs.begin(), pairs.end(), [&](int pair) {
      return links_.TensorAt(links_.At(pair).outputs.front()).network_output;
    });
    if (!links_.OnlyReads(op, x) || (is_output && links_.MakerOf(x) < 0)) return;
    before.type = links_.TensorAt(q).type;
    const std::string typed = before.id + " is " + std::string(base::NameOf(before.type));
    draft_.report.Remove(Report::Event::kTyped, links_.At(op).id, typed);
    for (const int pair : pairs)
      draft_.report.Remove(Report::Event::kTyped, links_.At(pair).id, typed, /*quiet=*/true);
    if (before.network_input) {
      draft_.report.Add(
          Report::Event::kAssumed, before.id,
          "it is handed in as " + std::string(base::NameOf(before.type)) + ", already quantised");
    }
    for (const int pair : pairs) TakeOutPair(pair, x);
    links_.Bypass(q, x);
  }

  // Where the pair leaves the network, its tensor is the network's output and the one before takes its name.
  void TakeOutPair(int pair, int x) {
    const int y = links_.At(pair).outputs.front();
    if (!links_.TensorAt(y).network_output) return links_.Bypass(y, x);
    const base::DataType type = links_.TensorAt(x).type;
    draft_.report.Add(Report::Event::kAssumed, links_.TensorAt(y).id,
                      "it is handed out as " + std::string(base::NameOf(type)) + ", still quantised");
    links_.TensorAt(x).network_output = true;
    std::swap(links_.TensorAt(x).id, links_.TensorAt(y).id);
    links_.TensorAt(y).network_output = false;
    links_.Bypass(y, x);
  }

  // The operator before writes the other type, where it is one that computes and nobody else reads its result.
  void DoBefore(int op) {
    const int x = links_.At(op).inputs.front();
    const int maker = links_.MakerOf(x);
    if (maker < 0 || !links_.OnlyReads(op, x) || links_.At(maker).outputs.size() != 1) return;
    if (links_.At(maker).kind == base::OperatorKind::kOpaque || base::OnlyMovesData(links_.At(maker).kind))
      return;
    draft_.report.Join(Report::Event::kTyped, links_.At(op).id, links_.At(maker).id,
                       "done by " + links_.At(maker).id);
    links_.Absorb(maker, {op});
  }

  Draft& draft_;
  Links links_;
};

}  // namespace

void SetDataTypes(Draft& draft) { TypeSetter(draft).Run(); }

}  // namespace tessera::graph::onnx
