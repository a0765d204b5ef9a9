// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <bit>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/sat/integer_encoding.h"

// The binary encoding: an integer first + step * k is a sum of constants and the bits of k. So
// aligned addresses have constant low bits without cost. Sums of an integer and a constant are
// written once and stored. In an order low + d <= high, d is on the side that keeps it positive.
//
// low <= high is decided from the highest bit down. s_k means "the bits above k are equal so far,
// and the guard holds":
//
//     guard = s_n -> s_(n-1) -> ... -> s_0    s_k and low_k and not high_k   is impossible
//                                             s_k and low_k = high_k         implies s_(k-1)
//
// Only one direction is needed, because no query asks whether an order is violated. Unit
// propagation is weak: a comparator implies little until the high bits are known. That is the price
// of a size that grows with the logarithm of the capacity.
//
// A remainder modulo a power of two is a sequence of low bits and has no cost; any other has a
// quotient that is multiplied and added back. Flipped address bits are equalities, bit by bit.
//
// An end with several sizes is one sum of two numbers. The second, the size, has a variable for
// each bit in which sizes differ: selecting a size is a binary clause per bit, and no clause of the
// sum is written twice.
//
// Cost: about 14 clauses per bit for a sum, 3 clauses and a variable per bit for an order, 3 per
// bit for a bound.
namespace tessera::encoder::sat {
namespace {

std::vector<formulation::Literal> ConstantBits(int64_t value) {
  std::vector<formulation::Literal> bits;
  for (auto rest = static_cast<uint64_t>(value); rest != 0; rest >>= 1U)
    bits.push_back((rest & 1U) != 0 ? formulation::kTrue : formulation::kFalse);
  return bits;
}

formulation::Literal BitAt(const std::vector<formulation::Literal>& bits, size_t index) {
  return index < bits.size() ? bits[index] : formulation::kFalse;
}

}  // namespace

formulation::Literal BitEncoding::XorOf(formulation::Literal a, formulation::Literal b) {
  if (a == formulation::kTrue || a == formulation::kFalse) std::swap(a, b);
  if (b == formulation::kFalse) return a;
  if (b == formulation::kTrue) return ~a;
  const formulation::Literal odd = clauses_.NewVariable();
  clauses_.Add({~odd, a, b});
  clauses_.Add({~odd, ~a, ~b});
  clauses_.Add({odd, ~a, b});
  clauses_.Add({odd, a, ~b});
  return odd;
}

formulation::Literal BitEncoding::MajorityOf(formulation::Literal a, formulation::Literal b,
                                             formulation::Literal c) {
  // A constant reduces it to a conjunction or a disjunction of the other two.
  for (int turn = 0; turn < 3; ++turn) {
    if (a == formulation::kFalse) return formulation::And(clauses_, b, c);
    if (a == formulation::kTrue) return ~formulation::And(clauses_, ~b, ~c);
    std::swap(a, b);
    std::swap(b, c);
  }
  const formulation::Literal most = clauses_.NewVariable();
  clauses_.Add({most, ~a, ~b});
  clauses_.Add({most, ~a, ~c});
  clauses_.Add({most, ~b, ~c});
  clauses_.Add({~most, a, b});
  clauses_.Add({~most, a, c});
  clauses_.Add({~most, b, c});
  return most;
}

BitEncoding::Bits BitEncoding::SumOf(const Bits& a, const Bits& b) {
  Bits sum;
  formulation::Literal carry = formulation::kFalse;
  for (size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    const formulation::Literal x = BitAt(a, k);
    const formulation::Literal y = BitAt(b, k);
    sum.push_back(XorOf(XorOf(x, y), carry));
    carry = MajorityOf(x, y, carry);
  }
  if (carry != formulation::kFalse) sum.push_back(carry);
  return sum;
}

BitEncoding::Bits BitEncoding::Multiple(const Bits& bits, int64_t factor) {
  Bits product;
  for (auto rest = static_cast<uint64_t>(factor); rest != 0; rest &= rest - 1) {
    Bits addend(static_cast<size_t>(std::countr_zero(rest)), formulation::kFalse);
    addend.insert(addend.end(), bits.begin(), bits.end());
    product = SumOf(product, addend);
  }
  return product;
}

formulation::Integer BitEncoding::NewInteger(const formulation::Domain& domain) {
  Bits rank(static_cast<size_t>(std::bit_width(static_cast<uint64_t>(domain.count - 1))));
  std::generate(rank.begin(), rank.end(), [this] { return clauses_.NewVariable(); });
  Bits bits = SumOf(Multiple(rank, domain.step), ConstantBits(domain.first));
  clauses_.Add({~ReachedBy(bits, domain.Last() + 1)});
  numbers_.push_back({domain, std::move(rank), std::move(bits), std::nullopt});
  return formulation::Integer{static_cast<int32_t>(numbers_.size()) - 1};
}

void BitEncoding::Explain(formulation::Integer integer, const formulation::Quantity& quantity) {
  Number& number = numbers_[static_cast<size_t>(integer.index)];
  if (number.quantity) return;
  number.quantity = quantity;
  for (size_t k = 0; k < number.rank.size(); ++k)
    clauses_.Explain(number.rank[k], formulation::Digit{quantity, number.domain.step << k});
}

const BitEncoding::Bits& BitEncoding::Shifted(formulation::Integer integer, int64_t shift) {
  if (shift == 0) return NumberOf(integer).bits;
  const auto [entry, is_new] = shifted_.try_emplace({integer.index, shift});
  if (is_new) entry->second = SumOf(NumberOf(integer).bits, ConstantBits(shift));
  return entry->second;
}

formulation::Literal BitEncoding::ReachedBy(const Bits& bits, int64_t value) {
  formulation::Literal reached = formulation::kTrue;  // by the bits below k alone
  const size_t width = std::max<size_t>(bits.size(), std::bit_width(static_cast<uint64_t>(value)));
  for (size_t k = 0; k < width; ++k) {
    const formulation::Literal bit = BitAt(bits, k);
    const bool wanted = ((static_cast<uint64_t>(value) >> k) & 1U) != 0;
    reached = wanted ? formulation::And(clauses_, bit, reached)
                     : ~formulation::And(clauses_, ~bit, ~reached);
  }
  return reached;
}

formulation::Literal BitEncoding::AtLeast(formulation::Term term, int64_t value) {
  const Number& number = NumberOf(term.base);
  if (value > number.domain.Last() + term.shift) return formulation::kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - number.domain.first, number.domain.step);
  if (rank <= 0) return formulation::kTrue;
  const auto [entry, is_new] = at_least_.try_emplace({term.base.index, rank}, formulation::kTrue);
  if (is_new) {
    const int64_t least = number.domain.first + rank * number.domain.step;
    entry->second = ReachedBy(number.bits, least);
    if (number.quantity)
      clauses_.Explain(entry->second, formulation::Threshold{*number.quantity, least});
  }
  return entry->second;
}

void BitEncoding::AddOrder(formulation::Literal guard, formulation::Term low,
                           formulation::Term high) {
  const int64_t distance = low.shift - high.shift;
  const formulation::Domain low_domain = NumberOf(low.base).domain;
  const formulation::Domain high_domain = NumberOf(high.base).domain;
  if (low_domain.Last() + distance <= high_domain.first) return;
  if (low_domain.first + distance > high_domain.Last()) return clauses_.Add({~guard});
  const Bits below = Shifted(low.base, std::max<int64_t>(distance, 0));
  const Bits above = Shifted(high.base, std::max<int64_t>(-distance, 0));
  formulation::Literal open = guard;
  for (size_t k = std::max(below.size(), above.size()); k-- > 0;) {
    const formulation::Literal x = BitAt(below, k);
    const formulation::Literal y = BitAt(above, k);
    if (x == y) continue;
    clauses_.Add({~open, ~x, y});
    if (k == 0 || (x == formulation::kFalse && y == formulation::kTrue)) return;
    const formulation::Literal next = clauses_.NewVariable();
    clauses_.Add({~open, ~x, next});
    clauses_.Add({~open, y, next});
    open = next;
  }
}

void BitEncoding::AddEqual(formulation::Literal guard, const Bits& a, const Bits& b) {
  for (size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    clauses_.Add({~guard, ~BitAt(a, k), BitAt(b, k)});
    clauses_.Add({~guard, BitAt(a, k), ~BitAt(b, k)});
  }
}

formulation::Integer BitEncoding::Remainder(formulation::Integer integer, int64_t modulus) {
  const Number number = NumberOf(integer);
  if (modulus > number.domain.Last()) return integer;
  const std::pair key(integer.index, modulus);
  if (const auto known = remainders_.find(key); known != remainders_.end()) return known->second;
  const formulation::Domain domain = formulation::RemainderDomain(number.domain, modulus);
  if (std::has_single_bit(static_cast<uint64_t>(modulus))) {
    const auto low = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(modulus)));
    Bits bits(number.bits.begin(), number.bits.begin() + static_cast<int64_t>(low));
    numbers_.push_back({domain, {}, std::move(bits), std::nullopt});
    return remainders_[key] = formulation::Integer{static_cast<int32_t>(numbers_.size()) - 1};
  }
  const formulation::Integer quotient = NewInteger({0, 1, number.domain.Last() / modulus + 1});
  const formulation::Integer remainder = NewInteger(domain);
  AddEqual(formulation::kTrue,
           SumOf(Multiple(NumberOf(quotient).bits, modulus), NumberOf(remainder).bits),
           number.bits);
  return remainders_[key] = remainder;
}

void BitEncoding::AddSum(formulation::Literal guard, formulation::Integer first,
                         formulation::Integer second, formulation::Term sum) {
  AddEqual(guard, SumOf(NumberOf(first).bits, NumberOf(second).bits), Shifted(sum.base, sum.shift));
}

void BitEncoding::AddXor(formulation::Literal guard, formulation::Integer first,
                         formulation::Integer second, int64_t mask) {
  const Bits a = NumberOf(first).bits;
  const Bits b = NumberOf(second).bits;
  const size_t width = std::max(
      {a.size(), b.size(), static_cast<size_t>(std::bit_width(static_cast<uint64_t>(mask)))});
  for (size_t k = 0; k < width; ++k) {
    const bool flipped = ((static_cast<uint64_t>(mask) >> k) & 1U) != 0;
    const formulation::Literal wanted = flipped ? ~BitAt(b, k) : BitAt(b, k);
    clauses_.Add({~guard, ~BitAt(a, k), wanted});
    clauses_.Add({~guard, BitAt(a, k), ~wanted});
  }
}

formulation::Integer BitEncoding::NewEnd(formulation::Integer start,
                                         const std::vector<int64_t>& sizes,
                                         const formulation::Domain& domain) {
  const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(sizes.back())));
  Bits size;
  for (size_t k = 0; k < width; ++k) {
    const auto bit = [k](int64_t value) { return ((static_cast<uint64_t>(value) >> k) & 1U) != 0; };
    const auto ones = std::count_if(sizes.begin(), sizes.end(), bit);
    const bool constant = ones == 0 || ones == static_cast<std::ptrdiff_t>(sizes.size());
    size.push_back(!constant   ? clauses_.NewVariable()
                   : ones == 0 ? formulation::kFalse
                               : formulation::kTrue);
  }
  Bits bits = SumOf(NumberOf(start).bits, size);
  clauses_.Add({~ReachedBy(bits, domain.Last() + 1)});
  numbers_.push_back({domain, {}, std::move(bits), std::nullopt});
  const formulation::Integer end{static_cast<int32_t>(numbers_.size()) - 1};
  sizes_.emplace(end.index, std::move(size));
  return end;
}

void BitEncoding::ChooseSize(formulation::Literal guard, formulation::Integer /*start*/,
                             int64_t size, formulation::Integer end, bool /*exact*/) {
  const Bits& bits = sizes_.at(end.index);
  for (size_t k = 0; k < bits.size(); ++k) {
    const bool set = ((static_cast<uint64_t>(size) >> k) & 1U) != 0;
    clauses_.Add({~guard, set ? bits[k] : ~bits[k]});
  }
}

void BitEncoding::Prefer(formulation::Integer integer, int64_t value) {
  const Number& number = NumberOf(integer);
  const int64_t wanted = std::clamp(value, number.domain.first, number.domain.Last());
  for (size_t k = 0; k < number.bits.size(); ++k) {
    const bool set = ((static_cast<uint64_t>(wanted) >> k) & 1U) != 0;
    clauses_.Prefer(set ? number.bits[k] : ~number.bits[k]);
  }
}

int64_t BitEncoding::ValueOf(formulation::Integer integer) const {
  uint64_t value = 0;
  const Bits& bits = NumberOf(integer).bits;
  for (size_t k = 0; k < bits.size(); ++k) {
    if (model_.IsTrue(bits[k])) value |= uint64_t{1} << k;
  }
  return static_cast<int64_t>(value);
}

}  // namespace tessera::encoder::sat
