#include "tessera/encoder/sat/integer_encoding.h"

#include <algorithm>

#include "tessera/encoder/sat/bit_encoding.h"
#include "tessera/encoder/sat/order_encoding.h"

namespace tessera::encoder {
namespace {

// Measured (docs/encoding.md): above it, writing order clauses costs more than their stronger propagation saves. Where
// banks and modes decide most, and sums say what banks hold, offsets matter less, and bits pay sooner.
constexpr int64_t kMostOrderPositions = 512;
constexpr int64_t kMostOrderPositionsInBanks = 64;

constexpr int64_t kBytesPerClause = 160;  // with the variables that go with it, measured on large formulas

}  // namespace

int64_t ClauseLimitFor(const Magnitude& magnitude) {
  return std::min(kClauseLimit, magnitude.memory / kBytesPerClause);
}

std::unique_ptr<IntegerSink> MakeIntegers(IntegerEncoding encoding, const Magnitude& magnitude,
                                          ClauseSink& clauses, const Model& model) {
  const int64_t limit = ClauseLimitFor(magnitude);
  const int64_t positions = std::min(magnitude.positions, kClauseLimit);
  // The unknown distance of a common delta has twice as many values as an offset, and each meets all of those.
  const int64_t of_sums = magnitude.sums == 0 ? 0 : 4 * magnitude.sums * positions * positions;
  const int64_t order_clauses = (2 * magnitude.pairs + 1) * positions + of_sums;
  const bool order_fits = order_clauses <= limit;
  const int64_t most = magnitude.banked ? kMostOrderPositionsInBanks : kMostOrderPositions;
  const bool order_pays = encoding == IntegerEncoding::kOrder || magnitude.positions <= most;
  if (encoding != IntegerEncoding::kBits && order_fits && order_pays) {
    return std::make_unique<OrderEncoding>(clauses, model);
  }
  return std::make_unique<BitEncoding>(clauses, model);
}

}  // namespace tessera::encoder
