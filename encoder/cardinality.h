#pragma once

#include <span>

#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// At most `most` of the literals hold; most >= 0. Cost: about 2 * n * most clauses and n * most variables.
void AddAtMost(ClauseSink& sink, std::span<const Literal> literals, int most);

}  // namespace tessera::encoder
