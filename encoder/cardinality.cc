#include "tessera/encoder/cardinality.h"

#include <algorithm>
#include <vector>

// The sequential counter (Sinz, CP 2005): count[k] after literal i means "more than k of the first i + 1
// hold".
//
//     literals      x0      x1      x2      x3
//     count > 0     o ----- o ----- o -.
//     count > 1             o ----- o -+--> ~x3
//
// Each step carries the counts on and adds its literal to them; a literal that would push the count past the
// limit is false.
// Unit propagation alone then forces the rest to false as soon as `most` literals hold.
namespace tessera::encoder {

void AddAtMost(ClauseSink& sink, std::span<const Literal> literals, int most, const Tally& tally) {
  std::vector<Literal> open;  // constants take part by lowering the limit
  for (const Literal literal : literals) {
    if (literal == kTrue) --most;
    if (literal != kTrue && literal != kFalse) open.push_back(literal);
  }
  if (most < 0) return sink.Add({});
  if (open.size() <= static_cast<size_t>(most)) return;
  if (most == 0) {
    for (const Literal literal : open) sink.Add({~literal});
    return;
  }
  const auto limit = static_cast<size_t>(most);
  std::vector<Literal> count(limit, kFalse);
  for (size_t i = 0; i < open.size(); ++i) {
    sink.Add({~open[i], ~count[limit - 1]});
    if (i + 1 == open.size()) break;
    std::vector<Literal> next(limit, kFalse);
    for (size_t k = 0; k < std::min(limit, i + 1); ++k) {
      next[k] = sink.NewVariable();
      if (tally) sink.Explain(next[k], tally(static_cast<int>(k) + 1, static_cast<int>(i) + 1));
      sink.Add({~count[k], next[k]});
      sink.Add({~open[i], k == 0 ? kFalse : ~count[k - 1], next[k]});
    }
    count = std::move(next);
  }
}

}  // namespace tessera::encoder
