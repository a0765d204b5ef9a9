// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/constraint.h"

#include <gtest/gtest.h>

#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"

// Constraints that a caller adds: their clauses bind, their check decides, and granularities
// respect their units.
namespace tessera::encoder {
namespace {

using problem::Allocation;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

// Buffer 0 starts at `place`. The check may require another address.
class StartsAt final : public formulation::Constraint {
 public:
  StartsAt(Bytes place, Bytes checked, Bytes unit)
      : place_(place), checked_(checked), unit_(unit) {}
  explicit StartsAt(Bytes place) : StartsAt(place, place, 1) {}

  std::string Name() const override { return "starts"; }
  Bytes UnitOf(const Problem& /*problem*/, size_t /*memory*/) const override { return unit_; }
  void Write(formulation::Variables& variables) const override {
    const Bytes granularity = variables.GranularityOf(0);
    EXPECT_EQ(place_ % granularity, 0);
    formulation::IntegerSink& integers = variables.Integers();
    variables.Clauses().Add({integers.AtLeast({variables.OffsetOf(0)}, place_ / granularity)});
    variables.Clauses().Add({~integers.AtLeast({variables.OffsetOf(0)}, place_ / granularity + 1)});
  }
  std::string FindViolation(const Problem& /*problem*/,
                            const Allocation& allocation) const override {
    return allocation.offsets[0] == checked_ ? "" : "it starts elsewhere";
  }

 private:
  Bytes place_;
  Bytes checked_;
  Bytes unit_;
};

Problem Pair() {
  Problem problem;
  problem.memories.emplace_back().capacity = 64;
  for (const char* id : {"a", "b"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = 16;
    buffer.lifespans = {{0, 1}};
  }
  return problem;
}

Result SolveWith(const problem::Engine& engine) {
  const Problem problem = Pair();
  const base::Stop stop;
  return engine.Open(problem, nullptr)->Solve(0, 64, {}, stop);
}

TEST(ConstraintTest, ItsClausesBindBothEngines) {
  const formulation::Constraints constraints = {std::make_shared<StartsAt>(37)};
  for (const Result& result : {SolveWith(sat::SatEngine({.seed = 0, .constraints = constraints})),
                               SolveWith(smt::Z3Engine({.seed = 0, .constraints = constraints}))}) {
    ASSERT_EQ(result.status, Status::kFeasible) << result.reason;
    EXPECT_EQ(result.allocation->offsets[0], 37);
  }
}

TEST(ConstraintTest, TwoThatContradictEachOtherLeaveNothing) {
  const formulation::Constraints constraints = {std::make_shared<StartsAt>(3),
                                                std::make_shared<StartsAt>(4)};
  EXPECT_EQ(SolveWith(sat::SatEngine({.seed = 0, .constraints = constraints})).status,
            Status::kInfeasible);
}

// Without its unit, addresses would be counted in sixteens, and 4 would be lost.
TEST(ConstraintTest, GranularitiesDivideItsUnit) {
  const formulation::Constraints constraints = {std::make_shared<StartsAt>(4, 4, 4)};
  const Result result = SolveWith(sat::SatEngine({.seed = 0, .constraints = constraints}));
  ASSERT_EQ(result.status, Status::kFeasible) << result.reason;
  EXPECT_EQ(result.allocation->offsets[0], 4);
  EXPECT_EQ(result.allocation->offsets[1] % 4, 0);
}

TEST(ConstraintTest, AnAnswerThatItsCheckRefusesIsNoAnswer) {
  const formulation::Constraints constraints = {std::make_shared<StartsAt>(16, 32, 1)};
  const Result result = SolveWith(sat::SatEngine({.seed = 0, .constraints = constraints}));
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_FALSE(result.allocation.has_value());
  EXPECT_EQ(result.reason,
            "constraint 'starts' refuses the answer that its clauses allow: it starts elsewhere");
}

}  // namespace
}  // namespace tessera::encoder
