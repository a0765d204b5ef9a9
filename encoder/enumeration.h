#pragma once

#include <cstdint>

#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/integer_sink.h"

// Statements about integers that are said value by value, with bounds alone. Cheap where domains are small;
// where they are not, the sink gets full.
namespace tessera::encoder {

// If `guard` holds, then to = image(from). `domain` is that of `from`. Two clauses for each of its values.
template <typename Image>
void AddImage(ClauseSink& clauses, IntegerSink& integers, Literal guard, Integer from, const Domain& domain,
              Integer to, Image image) {
  for (int64_t rank = 0; rank < domain.count && !clauses.Full(); ++rank) {
    const int64_t value = domain.first + rank * domain.step;
    const int64_t wanted = image(value);
    const Literal below = ~integers.AtLeast({from}, value);
    const Literal above = integers.AtLeast({from}, value + 1);
    // Where `to` cannot have the value, the two clauses contradict each other and rule out this one of `from`.
    clauses.Add({~guard, below, above, integers.AtLeast({to}, wanted)});
    clauses.Add({~guard, below, above, ~integers.AtLeast({to}, wanted + 1)});
  }
}

// If `guard` holds, then first + second = sum: what both reach, and what neither exceeds, carries over. The
// domains are those of the two. Two clauses for each pair of their values.
void AddSumByValues(ClauseSink& clauses, IntegerSink& integers, Literal guard, Integer first, const Domain& a,
                    Integer second, const Domain& b, Term sum);

}  // namespace tessera::encoder
