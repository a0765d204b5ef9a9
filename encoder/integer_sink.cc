#include "tessera/encoder/integer_sink.h"

#include <numeric>

namespace tessera::encoder {

Domain RemainderDomain(const Domain& domain, int64_t modulus) {
  if (domain.count == 1) return {domain.first % modulus, 1, 1};
  const int64_t step = std::gcd(domain.step, modulus);
  return {domain.first % step, step, modulus / step};
}

}  // namespace tessera::encoder
