#pragma once

#include "tessera/encoder/addresses.h"
#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// Adds what follows anyway for buffers that lie inside one bank: each lies in one, and those that live at once in a
// bank are together no larger than the bank. See bank_sums.cc.
void WriteBankSums(const Question& question, Addresses& addresses, ClauseSink& clauses);

}  // namespace tessera::encoder
