#pragma once

#include <cstdint>
#include <memory>

#include "tessera/encoder/backend.h"

namespace tessera::encoder {

// How integers become clauses.
enum class IntegerEncoding : uint8_t {
  kByMagnitude,  // order literals where offsets have at most 512 values (64 in banks) and the clauses fit, else bits
  kOrder,  // order literals wherever the clauses fit, else bits
  kBits,
};

// The most clauses that a formula for a SAT solver may have. One of three literals costs CaDiCaL about 80
// bytes with its watches: 640 MB.
inline constexpr int64_t kClauseLimit = 8'000'000;

// As many of them as there is memory for.
int64_t ClauseLimitFor(const Magnitude& magnitude);

// Integers as clauses of `clauses`, whose solver answers through `model`; both outlive what is returned.
std::unique_ptr<IntegerSink> MakeIntegers(IntegerEncoding encoding, const Magnitude& magnitude,
                                          ClauseSink& clauses, const Model& model);

}  // namespace tessera::encoder
