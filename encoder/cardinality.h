#pragma once

#include <functional>
#include <span>

#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// What "at least `held` of the first `among` literals hold" means; constants are left out of the row.
using Tally = std::function<Meaning(int held, int among)>;

// At most `most` of the literals hold; most >= 0. `tally`, where given, explains the counts. Cost: about 2 * n
// * most clauses and n * most variables.
void AddAtMost(ClauseSink& sink, std::span<const Literal> literals, int most, const Tally& tally = {});

}  // namespace tessera::encoder
