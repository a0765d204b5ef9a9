#include "tessera/encoder/integer_sink.h"

#include <numeric>

namespace tessera::encoder {

Domain RemainderDomain(const Domain& domain, int64_t modulus) {
  if (domain.count == 1) return {domain.first % modulus, 1, 1};
  const int64_t step = std::gcd(domain.step, modulus);
  return {domain.first % step, step, modulus / step};
}

Integer IntegerSink::NewEnd(Integer /*start*/, const std::vector<int64_t>& /*sizes*/, const Domain& domain) {
  return NewInteger(domain);
}

void IntegerSink::ChooseSize(Literal guard, Integer start, int64_t size, Integer end, bool exact) {
  AddOrder(guard, {start, size}, {end});
  if (exact) AddOrder(guard, {end}, {start, size});
}

}  // namespace tessera::encoder
