#include "tessera/encoder/enumeration.h"

namespace tessera::encoder {

void AddSumByValues(ClauseSink& clauses, IntegerSink& integers, Literal guard, Integer first, const Domain& a,
                    Integer second, const Domain& b, Term sum) {
  for (int64_t i = 0; i < a.count; ++i) {
    const int64_t x = a.first + i * a.step;
    for (int64_t j = 0; j < b.count && !clauses.Full(); ++j) {
      const int64_t y = b.first + j * b.step;
      clauses.Add({~guard, ~integers.AtLeast({first}, x), ~integers.AtLeast({second}, y),
                   integers.AtLeast(sum, x + y)});
      clauses.Add({~guard, integers.AtLeast({first}, x + 1), integers.AtLeast({second}, y + 1),
                   ~integers.AtLeast(sum, x + y + 1)});
    }
  }
}

}  // namespace tessera::encoder
