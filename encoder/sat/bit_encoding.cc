#include "tessera/encoder/sat/bit_encoding.h"

#include <algorithm>
#include <bit>

#include "tessera/base/checked.h"

// The binary encoding: an integer first + step * k is the sum of constants and of the bits of k, so that
// aligned addresses have constant low bits and cost nothing for them. Sums of an integer and a constant are
// written once and kept; in an order low + d <= high, d stands on whichever side keeps it positive.
//
// low <= high is decided from the highest bit down. s_k means "the bits above k are equal so far, or the
// guard asks":
//
//     guard = s_n -> s_(n-1) -> ... -> s_0       s_k and low_k and not high_k   is impossible
//                                                s_k and low_k = high_k         hands the question to s_(k-1)
//
// Only one direction is needed, as nobody asks whether an order is broken. Unit propagation is weak: a
// comparator says little until the high bits are known. That is the price of a size that grows with the
// logarithm of the capacity.
//
// A remainder modulo a power of two is a row of low bits and costs nothing; any other comes with a quotient that
// is multiplied and added back. Flipped address bits are equalities, bit by bit.
//
// An end with several sizes is one sum of two numbers whose second, the size, has a variable where sizes differ:
// choosing one is a binary clause a bit, and no clause of the sum is written twice.
//
// Cost: about 14 clauses a bit for a sum, 3 clauses and a variable a bit for an order, 3 a bit for a bound.
namespace tessera::encoder {
namespace {

std::vector<Literal> ConstantBits(int64_t value) {
  std::vector<Literal> bits;
  for (auto rest = static_cast<uint64_t>(value); rest != 0; rest >>= 1U)
    bits.push_back((rest & 1U) != 0 ? kTrue : kFalse);
  return bits;
}

Literal BitAt(const std::vector<Literal>& bits, size_t index) {
  return index < bits.size() ? bits[index] : kFalse;
}

}  // namespace

Literal BitEncoding::ParityOf(Literal a, Literal b) {
  if (a == kTrue || a == kFalse) std::swap(a, b);
  if (b == kFalse) return a;
  if (b == kTrue) return ~a;
  const Literal odd = clauses_.NewVariable();
  clauses_.Add({~odd, a, b});
  clauses_.Add({~odd, ~a, ~b});
  clauses_.Add({odd, ~a, b});
  clauses_.Add({odd, a, ~b});
  return odd;
}

Literal BitEncoding::MajorityOf(Literal a, Literal b, Literal c) {
  // A constant makes it a conjunction or a disjunction of the other two.
  for (int turn = 0; turn < 3; ++turn) {
    if (a == kFalse) return And(clauses_, b, c);
    if (a == kTrue) return ~And(clauses_, ~b, ~c);
    std::swap(a, b);
    std::swap(b, c);
  }
  const Literal most = clauses_.NewVariable();
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
  Literal carry = kFalse;
  for (size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    const Literal x = BitAt(a, k);
    const Literal y = BitAt(b, k);
    sum.push_back(ParityOf(ParityOf(x, y), carry));
    carry = MajorityOf(x, y, carry);
  }
  if (carry != kFalse) sum.push_back(carry);
  return sum;
}

BitEncoding::Bits BitEncoding::Multiple(const Bits& bits, int64_t factor) {
  Bits product;
  for (auto rest = static_cast<uint64_t>(factor); rest != 0; rest &= rest - 1) {
    Bits addend(static_cast<size_t>(std::countr_zero(rest)), kFalse);
    addend.insert(addend.end(), bits.begin(), bits.end());
    product = SumOf(product, addend);
  }
  return product;
}

Integer BitEncoding::NewInteger(const Domain& domain) {
  Bits rank(static_cast<size_t>(std::bit_width(static_cast<uint64_t>(domain.count - 1))));
  std::generate(rank.begin(), rank.end(), [this] { return clauses_.NewVariable(); });
  Bits bits = SumOf(Multiple(rank, domain.step), ConstantBits(domain.first));
  clauses_.Add({~ReachedBy(bits, domain.Last() + 1)});
  numbers_.push_back({domain, std::move(rank), std::move(bits), std::nullopt});
  return Integer{static_cast<int32_t>(numbers_.size()) - 1};
}

void BitEncoding::Explain(Integer integer, const Quantity& quantity) {
  Number& number = numbers_[static_cast<size_t>(integer.index)];
  if (number.quantity) return;
  number.quantity = quantity;
  for (size_t k = 0; k < number.rank.size(); ++k)
    clauses_.Explain(number.rank[k], Digit{quantity, number.domain.step << k});
}

const BitEncoding::Bits& BitEncoding::Shifted(Integer integer, int64_t shift) {
  if (shift == 0) return NumberOf(integer).bits;
  const auto [entry, is_new] = shifted_.try_emplace({integer.index, shift});
  if (is_new) entry->second = SumOf(NumberOf(integer).bits, ConstantBits(shift));
  return entry->second;
}

Literal BitEncoding::ReachedBy(const Bits& bits, int64_t value) {
  Literal reached = kTrue;  // by the bits below k alone
  const size_t width = std::max<size_t>(bits.size(), std::bit_width(static_cast<uint64_t>(value)));
  for (size_t k = 0; k < width; ++k) {
    const Literal bit = BitAt(bits, k);
    const bool wanted = ((static_cast<uint64_t>(value) >> k) & 1U) != 0;
    reached = wanted ? And(clauses_, bit, reached) : ~And(clauses_, ~bit, ~reached);
  }
  return reached;
}

Literal BitEncoding::AtLeast(Term term, int64_t value) {
  const Number& number = NumberOf(term.base);
  if (value > number.domain.Last() + term.shift) return kFalse;
  const int64_t rank = base::CeilDiv(value - term.shift - number.domain.first, number.domain.step);
  if (rank <= 0) return kTrue;
  const auto [entry, is_new] = at_least_.try_emplace({term.base.index, rank}, kTrue);
  if (is_new) {
    const int64_t least = number.domain.first + rank * number.domain.step;
    entry->second = ReachedBy(number.bits, least);
    if (number.quantity) clauses_.Explain(entry->second, Threshold{*number.quantity, least});
  }
  return entry->second;
}

void BitEncoding::AddOrder(Literal guard, Term low, Term high) {
  const int64_t distance = low.shift - high.shift;
  const Domain low_domain = NumberOf(low.base).domain;
  const Domain high_domain = NumberOf(high.base).domain;
  if (low_domain.Last() + distance <= high_domain.first) return;
  if (low_domain.first + distance > high_domain.Last()) return clauses_.Add({~guard});
  const Bits below = Shifted(low.base, std::max<int64_t>(distance, 0));
  const Bits above = Shifted(high.base, std::max<int64_t>(-distance, 0));
  Literal open = guard;
  for (size_t k = std::max(below.size(), above.size()); k-- > 0;) {
    const Literal x = BitAt(below, k);
    const Literal y = BitAt(above, k);
    if (x == y) continue;
    clauses_.Add({~open, ~x, y});
    if (k == 0 || (x == kFalse && y == kTrue)) return;
    const Literal next = clauses_.NewVariable();
    clauses_.Add({~open, ~x, next});
    clauses_.Add({~open, y, next});
    open = next;
  }
}

void BitEncoding::AddEqual(Literal guard, const Bits& a, const Bits& b) {
  for (size_t k = 0; k < std::max(a.size(), b.size()); ++k) {
    clauses_.Add({~guard, ~BitAt(a, k), BitAt(b, k)});
    clauses_.Add({~guard, BitAt(a, k), ~BitAt(b, k)});
  }
}

Integer BitEncoding::Remainder(Integer integer, int64_t modulus) {
  const Number number = NumberOf(integer);
  if (modulus > number.domain.Last()) return integer;
  const std::pair key(integer.index, modulus);
  if (const auto known = remainders_.find(key); known != remainders_.end()) return known->second;
  const Domain domain = RemainderDomain(number.domain, modulus);
  if (std::has_single_bit(static_cast<uint64_t>(modulus))) {
    const auto low = static_cast<size_t>(std::countr_zero(static_cast<uint64_t>(modulus)));
    Bits bits(number.bits.begin(), number.bits.begin() + static_cast<int64_t>(low));
    numbers_.push_back({domain, {}, std::move(bits), std::nullopt});
    return remainders_[key] = Integer{static_cast<int32_t>(numbers_.size()) - 1};
  }
  const Integer quotient = NewInteger({0, 1, number.domain.Last() / modulus + 1});
  const Integer remainder = NewInteger(domain);
  AddEqual(kTrue, SumOf(Multiple(NumberOf(quotient).bits, modulus), NumberOf(remainder).bits), number.bits);
  return remainders_[key] = remainder;
}

void BitEncoding::AddSum(Literal guard, Integer first, Integer second, Term sum) {
  AddEqual(guard, SumOf(NumberOf(first).bits, NumberOf(second).bits), Shifted(sum.base, sum.shift));
}

void BitEncoding::AddXor(Literal guard, Integer first, Integer second, int64_t mask) {
  const Bits a = NumberOf(first).bits;
  const Bits b = NumberOf(second).bits;
  const size_t width =
      std::max({a.size(), b.size(), static_cast<size_t>(std::bit_width(static_cast<uint64_t>(mask)))});
  for (size_t k = 0; k < width; ++k) {
    const bool flipped = ((static_cast<uint64_t>(mask) >> k) & 1U) != 0;
    const Literal wanted = flipped ? ~BitAt(b, k) : BitAt(b, k);
    clauses_.Add({~guard, ~BitAt(a, k), wanted});
    clauses_.Add({~guard, BitAt(a, k), ~wanted});
  }
}

Integer BitEncoding::NewEnd(Integer start, const std::vector<int64_t>& sizes, const Domain& domain) {
  const auto width = static_cast<size_t>(std::bit_width(static_cast<uint64_t>(sizes.back())));
  Bits size;
  for (size_t k = 0; k < width; ++k) {
    const auto bit = [k](int64_t value) { return ((static_cast<uint64_t>(value) >> k) & 1U) != 0; };
    const auto ones = std::count_if(sizes.begin(), sizes.end(), bit);
    const bool constant = ones == 0 || ones == static_cast<std::ptrdiff_t>(sizes.size());
    size.push_back(!constant ? clauses_.NewVariable() : ones == 0 ? kFalse : kTrue);
  }
  Bits bits = SumOf(NumberOf(start).bits, size);
  clauses_.Add({~ReachedBy(bits, domain.Last() + 1)});
  numbers_.push_back({domain, {}, std::move(bits), std::nullopt});
  const Integer end{static_cast<int32_t>(numbers_.size()) - 1};
  sizes_.emplace(end.index, std::move(size));
  return end;
}

void BitEncoding::ChooseSize(Literal guard, Integer /*start*/, int64_t size, Integer end, bool /*exact*/) {
  const Bits& bits = sizes_.at(end.index);
  for (size_t k = 0; k < bits.size(); ++k) {
    const bool set = ((static_cast<uint64_t>(size) >> k) & 1U) != 0;
    clauses_.Add({~guard, set ? bits[k] : ~bits[k]});
  }
}

void BitEncoding::Prefer(Integer integer, int64_t value) {
  const Number& number = NumberOf(integer);
  const int64_t wanted = std::clamp(value, number.domain.first, number.domain.Last());
  for (size_t k = 0; k < number.bits.size(); ++k) {
    const bool set = ((static_cast<uint64_t>(wanted) >> k) & 1U) != 0;
    clauses_.Prefer(set ? number.bits[k] : ~number.bits[k]);
  }
}

int64_t BitEncoding::ValueOf(Integer integer) const {
  uint64_t value = 0;
  const Bits& bits = NumberOf(integer).bits;
  for (size_t k = 0; k < bits.size(); ++k) {
    if (model_.IsTrue(bits[k])) value |= uint64_t{1} << k;
  }
  return static_cast<int64_t>(value);
}

}  // namespace tessera::encoder
