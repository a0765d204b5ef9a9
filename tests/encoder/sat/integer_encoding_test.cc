// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/integer_encoding.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/encoder/sat/cadical_engine.h"

// Both encodings of integers mean the same: the tests compare them with arithmetic for all values
// of small domains.
namespace tessera::encoder {
namespace {

template <typename Encoding>
class IntegerEncodingOf : public testing::Test {
 protected:
  bool Allows(std::vector<formulation::Literal> assumptions) {
    return solver_.Decide(assumptions, {}, stop_).verdict ==
           formulation::Satisfiability::kSatisfiable;
  }

  // Literals that hold when the integer has the value.
  std::array<formulation::Literal, 2> Is(formulation::Integer integer, int64_t value) {
    return {integers_.AtLeast({integer}, value), ~integers_.AtLeast({integer}, value + 1)};
  }

  formulation::Domain DrawDomain(base::Random& random) {
    return {random.Uniform(0, 5), random.Uniform(1, 4), random.Uniform(1, 6)};
  }

  static bool Contains(const formulation::Domain& domain, int64_t value) {
    return value >= domain.first && value <= domain.Last() &&
           (value - domain.first) % domain.step == 0;
  }

  sat::CadicalSolver solver_{0, 1'000'000};
  Encoding integers_{solver_, solver_};
  base::Stop stop_;
};

using Encodings = testing::Types<sat::OrderEncoding, sat::BitEncoding>;
TYPED_TEST_SUITE(IntegerEncodingOf, Encodings);

TEST(ClauseLimit, IsZeroWhereTheFormulaHasFarMoreClauses) {
  formulation::Magnitude magnitude;
  magnitude.positions = 1 << 20;
  magnitude.pairs = 10'000;
  EXPECT_EQ(sat::ClauseLimitFor(magnitude), sat::kClauseLimit);
  magnitude.pairs = 1'000'000;
  EXPECT_EQ(sat::ClauseLimitFor(magnitude), 0);
  magnitude.positions = 1;
  EXPECT_EQ(sat::ClauseLimitFor(magnitude), sat::kClauseLimit);
}

// Three offsets that lie far apart have three remainders, not one for each number below a modulus.
TEST(OrderEncoding, HasTheRemaindersOfFewNumbersOnly) {
  sat::CadicalSolver solver(0, 1'000'000);
  sat::OrderEncoding integers(solver, solver);
  const formulation::Domain domain{3'263'457'400, 9'520'543'483, 3};
  constexpr int64_t kModulus = 4'294'967'297;
  const formulation::Integer x = integers.NewInteger(domain);
  const formulation::Integer remainder = integers.Remainder(x, kModulus);
  EXPECT_FALSE(solver.Full());
  const base::Stop never;
  for (int64_t rank = 0; rank < domain.count; ++rank) {
    const int64_t value = domain.first + rank * domain.step;
    const std::array<formulation::Literal, 2> is = {integers.AtLeast({x}, value),
                                                    ~integers.AtLeast({x}, value + 1)};
    ASSERT_EQ(solver.Decide(is, {}, never).verdict, formulation::Satisfiability::kSatisfiable);
    EXPECT_EQ(integers.ValueOf(remainder), value % kModulus);
  }
}

TYPED_TEST(IntegerEncodingOf, TakesTheValuesOfItsDomainAndNoOthers) {
  base::Random random(1);
  for (int i = 0; i < 40; ++i) {
    const formulation::Domain domain = this->DrawDomain(random);
    const formulation::Integer x = this->integers_.NewInteger(domain);
    for (int64_t value = 0; value <= domain.Last() + 2; ++value) {
      const auto is = this->Is(x, value);
      const bool possible = this->Allows({is[0], is[1]});
      EXPECT_EQ(possible, this->Contains(domain, value)) << value;
      if (possible) {
        EXPECT_EQ(this->integers_.ValueOf(x), value);
      }
    }
  }
}

TYPED_TEST(IntegerEncodingOf, OrdersHoldUnderTheirGuardOnly) {
  base::Random random(2);
  for (int i = 0; i < 40; ++i) {
    const formulation::Domain a = this->DrawDomain(random);
    const formulation::Domain b = this->DrawDomain(random);
    const formulation::Integer x = this->integers_.NewInteger(a);
    const formulation::Integer y = this->integers_.NewInteger(b);
    const int64_t low = random.Uniform(-6, 6);
    const int64_t high = random.Uniform(-6, 6);
    const formulation::Literal guard = this->solver_.NewVariable();
    this->integers_.AddOrder(guard, {x, low}, {y, high});
    for (int64_t v = a.first; v <= a.Last(); v += a.step) {
      for (int64_t w = b.first; w <= b.Last(); w += b.step) {
        const auto is_v = this->Is(x, v);
        const auto is_w = this->Is(y, w);
        EXPECT_EQ(this->Allows({guard, is_v[0], is_v[1], is_w[0], is_w[1]}), v + low <= w + high);
        EXPECT_TRUE(this->Allows({~guard, is_v[0], is_v[1], is_w[0], is_w[1]}));
      }
    }
  }
}

TYPED_TEST(IntegerEncodingOf, EqualBoundsAreEqualLiterals) {
  const formulation::Integer x = this->integers_.NewInteger({0, 4, 5});
  EXPECT_EQ(this->integers_.AtLeast({x}, 0), formulation::kTrue);
  EXPECT_EQ(this->integers_.AtLeast({x}, 17), formulation::kFalse);
  EXPECT_EQ(this->integers_.AtLeast({x}, 5), this->integers_.AtLeast({x}, 8));
  EXPECT_EQ(this->integers_.AtLeast({x, 3}, 8), this->integers_.AtLeast({x}, 5));
}

TYPED_TEST(IntegerEncodingOf, APreferredValueIsTriedFirst) {
  const formulation::Integer x = this->integers_.NewInteger({0, 1, 32});
  this->integers_.Prefer(x, 21);
  ASSERT_TRUE(this->Allows({}));
  EXPECT_EQ(this->integers_.ValueOf(x), 21);
}

TYPED_TEST(IntegerEncodingOf, AnUnwelcomePreferenceIsNoConstraint) {
  const formulation::Integer x = this->integers_.NewInteger({0, 1, 32});
  this->integers_.Prefer(x, 21);
  EXPECT_TRUE(this->Allows({~this->integers_.AtLeast({x}, 10)}));
}

TYPED_TEST(IntegerEncodingOf, RemaindersFollowTheirInteger) {
  base::Random random(4);
  for (int i = 0; i < 30; ++i) {
    const formulation::Domain domain = this->DrawDomain(random);
    const int64_t modulus = random.Uniform(1, 9);
    const formulation::Integer x = this->integers_.NewInteger(domain);
    const formulation::Integer remainder = this->integers_.Remainder(x, modulus);
    for (int64_t v = domain.first; v <= domain.Last(); v += domain.step) {
      for (int64_t r = 0; r < modulus + 1; ++r) {
        const auto is_v = this->Is(x, v);
        const auto is_r = this->Is(remainder, r);
        EXPECT_EQ(this->Allows({is_v[0], is_v[1], is_r[0], is_r[1]}), v % modulus == r)
            << v << " mod " << modulus;
      }
    }
  }
}

TYPED_TEST(IntegerEncodingOf, SumsHoldUnderTheirGuardOnly) {
  base::Random random(5);
  for (int i = 0; i < 6; ++i) {
    const std::array<formulation::Domain, 3> domains = {
        this->DrawDomain(random), this->DrawDomain(random), this->DrawDomain(random)};
    std::array<formulation::Integer, 3> integers;
    for (size_t k = 0; k < 3; ++k) integers[k] = this->integers_.NewInteger(domains[k]);
    const int64_t shift = random.Uniform(0, 6);
    const formulation::Literal guard = this->solver_.NewVariable();
    this->integers_.AddSum(guard, integers[0], integers[1], {integers[2], shift});
    for (int64_t u = domains[0].first; u <= domains[0].Last(); u += domains[0].step) {
      for (int64_t v = domains[1].first; v <= domains[1].Last(); v += domains[1].step) {
        for (int64_t w = domains[2].first; w <= domains[2].Last(); w += domains[2].step) {
          const auto a = this->Is(integers[0], u);
          const auto b = this->Is(integers[1], v);
          const auto c = this->Is(integers[2], w);
          EXPECT_EQ(this->Allows({guard, a[0], a[1], b[0], b[1], c[0], c[1]}), u + v == w + shift);
          EXPECT_TRUE(this->Allows({~guard, a[0], a[1], b[0], b[1], c[0], c[1]}));
        }
      }
    }
  }
}

TYPED_TEST(IntegerEncodingOf, FlippedBitsHoldUnderTheirGuardOnly) {
  base::Random random(6);
  for (int i = 0; i < 30; ++i) {
    const formulation::Domain a = this->DrawDomain(random);
    const formulation::Domain b = this->DrawDomain(random);
    const formulation::Integer x = this->integers_.NewInteger(a);
    const formulation::Integer y = this->integers_.NewInteger(b);
    const int64_t mask = random.Uniform(0, 40);
    const formulation::Literal guard = this->solver_.NewVariable();
    this->integers_.AddXor(guard, x, y, mask);
    for (int64_t v = a.first; v <= a.Last(); v += a.step) {
      for (int64_t w = b.first; w <= b.Last(); w += b.step) {
        const auto is_v = this->Is(x, v);
        const auto is_w = this->Is(y, w);
        EXPECT_EQ(this->Allows({guard, is_v[0], is_v[1], is_w[0], is_w[1]}), (v ^ w) == mask);
        EXPECT_TRUE(this->Allows({~guard, is_v[0], is_v[1], is_w[0], is_w[1]}));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::encoder
