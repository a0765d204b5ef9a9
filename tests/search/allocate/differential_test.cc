// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../../draws.h"
#include "brute_force.h"
#include "random_packing.h"
#include "random_problem.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/bank_access.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/engines/order_search/order_search.h"

// Compares all engines, and the portfolio of them, with an enumeration that shares no code with
// any, on small Problems with everything that a Problem can state. TESSERA_DIFFERENTIAL is the
// number of draws (scripts/soak uses twenty times the default); Problem i is always the same. The
// test prints the shares of the features of the Problems and asserts them, so that an easy
// generator cannot pass.

namespace tessera::search {
namespace {

using encoder::formulation::Refinements;
using encoder::sat::IntegerEncoding;
using problem::Buffer;
using problem::Bytes;
using problem::Memory;
using problem::Problem;
using problem::RelationKind;
using problem::RequirementKind;
using problem::Result;
using problem::Status;

constexpr int64_t kStepsOfAFinder = 1000;  // on an infeasible Problem it would search without end

int ProblemsWanted() {
  const char* wanted = std::getenv("TESSERA_DIFFERENTIAL");
  return wanted != nullptr ? std::atoi(wanted) : DrawsOf(1000);
}

// A feature that a Problem can have.
struct Kind {
  std::string name;
  std::function<bool(const Problem&)> occurs_in;
};

Kind InABuffer(std::string name, std::function<bool(const Buffer&)> holds) {
  return {std::move(name), [holds = std::move(holds)](const Problem& problem) {
            return std::any_of(problem.buffers.begin(), problem.buffers.end(), holds);
          }};
}

Kind InAMemory(std::string name, std::function<bool(const Memory&)> holds) {
  return {std::move(name), [holds = std::move(holds)](const Problem& problem) {
            return std::any_of(problem.memories.begin(), problem.memories.end(), holds);
          }};
}

bool HasUnequalBanks(const Memory& memory) {
  return std::any_of(memory.banks.begin(), memory.banks.end(), [&](const problem::Bank& bank) {
    const problem::AddressRange& first = memory.banks.front().range;
    return bank.range.end - bank.range.begin != first.end - first.begin;
  });
}

bool HasPorts(const Memory& memory) {
  return std::any_of(memory.banks.begin(), memory.banks.end(), [](const problem::Bank& bank) {
    return bank.ports.total || bank.ports.reads || bank.ports.writes;
  });
}

bool NamesAnEngine(const Memory& memory) {
  return std::any_of(memory.modes.begin(), memory.modes.end(), [](const problem::Mode& mode) {
    return std::any_of(mode.banks.begin(), mode.banks.end(), [](const problem::BankMode& bank) {
      return std::any_of(
          bank.allowed.begin(), bank.allowed.end(),
          [](const problem::Permission& permission) { return !permission.engine.empty(); });
    });
  });
}

template <typename List, typename Wanted>
std::function<bool(const Problem&)> Lists(List Problem::*list, Wanted wanted) {
  return [list, wanted](const Problem& problem) {
    return std::any_of((problem.*list).begin(), (problem.*list).end(), wanted);
  };
}

std::vector<Kind> AllKinds() {
  std::vector<Kind> kinds = {
      {"several memories", [](const Problem& problem) { return problem.memories.size() > 1; }},
      InAMemory("reserved ranges", [](const Memory& memory) { return !memory.reserved.empty(); }),
      InAMemory("banks of unequal size", HasUnequalBanks),
      InAMemory("ports", HasPorts),
      InAMemory("modes", [](const Memory& memory) { return !memory.modes.empty(); }),
      InAMemory("accesses by engine", NamesAnEngine),
      InAMemory("transitions", [](const Memory& memory) { return memory.transitions.has_value(); }),
      {"loops", [](const Problem& problem) { return !problem.loops.empty(); }},
      InABuffer("lifespans with gaps",
                [](const Buffer& buffer) { return buffer.lifespans.size() > 1; }),
      InABuffer("alignment", [](const Buffer& buffer) { return buffer.alignment > 1; }),
      InABuffer("fixed offsets", [](const Buffer& buffer) { return buffer.offset.has_value(); }),
      InABuffer("allowed banks",
                [](const Buffer& buffer) { return !buffer.allowed_banks.empty(); }),
      InABuffer("span contiguous",
                [](const Buffer& buffer) { return buffer.span == problem::Span::kContiguous; }),
      InABuffer("span single",
                [](const Buffer& buffer) { return buffer.span == problem::Span::kSingle; }),
  };
  constexpr std::string_view kRelations[] = {"colocate",       "adjacent", "same_bank",
                                             "different_bank", "separate", "exclusive"};
  for (size_t kind = 0; kind < std::size(kRelations); ++kind) {
    kinds.push_back({fmt::format("relation {}", kRelations[kind]),
                     Lists(&Problem::relations, [kind](const problem::Relation& relation) {
                       return relation.kind == static_cast<RelationKind>(kind);
                     })});
  }
  for (size_t kind = 0; kind < problem::kRequirementKinds; ++kind) {
    const auto wanted = static_cast<RequirementKind>(kind);
    kinds.push_back({fmt::format("rule {}", NameOf(wanted)),
                     Lists(&Problem::rules, [wanted](const problem::Rule& rule) {
                       return rule.requirement.kind == wanted;
                     })});
  }
  for (const auto& [name, wanted] :
       {std::pair("cost of reuse", problem::CostKind::kReuse),
        std::pair("cost of mode switches", problem::CostKind::kModeSwitch)}) {
    kinds.push_back({name, Lists(&Problem::costs, [wanted = wanted](const problem::Cost& cost) {
                       return cost.kind == wanted;
                     })});
  }
  return kinds;
}

// The result of the enumeration of a Problem.
struct Truth {
  const Problem& problem;
  Bytes capacity;
  bool feasible;
  std::optional<int64_t> least_cost;  // where the Problem has costs and an answer
};

void ExpectPlacement(const Truth& truth, const Result& result) {
  ASSERT_TRUE(result.allocation);
  const auto violations = problem::Validate(truth.problem, *result.allocation, truth.capacity);
  EXPECT_TRUE(violations.empty()) << violations.front().message;
  EXPECT_EQ(*result.peak, problem::PeakOf(truth.problem, *result.allocation));
  EXPECT_GE(*result.peak, result.lower_bound);
}

void ExpectVerdict(const Truth& truth, const Result& result) {
  const bool placed = result.status == Status::kFeasible || result.status == Status::kOptimal;
  if (!truth.feasible) {
    EXPECT_EQ(NameOf(result.status), NameOf(Status::kInfeasible)) << result.reason;
    return;
  }
  ASSERT_TRUE(placed) << NameOf(result.status) << ": " << result.reason;
  ExpectPlacement(truth, result);
}

void ExpectLeastCost(const Truth& truth, const Result& result) {
  ExpectVerdict(truth, result);
  if (!truth.feasible) return;
  EXPECT_EQ(result.cost, truth.least_cost) << result.reason;
  EXPECT_EQ(result.least_cost, truth.least_cost) << result.reason;
}

// For engines that find low costs and prove nothing. Returns whether the cost is the least.
bool ExpectTrueCost(const Truth& truth, const Result& result) {
  ExpectVerdict(truth, result);
  if (!truth.feasible) return false;
  EXPECT_EQ(result.cost, problem::CostOf(truth.problem, *result.allocation));
  EXPECT_GE(*result.cost, *truth.least_cost);
  EXPECT_LE(result.least_cost, *truth.least_cost);
  return result.cost == truth.least_cost;
}

// Each refinement on or off, and a third of the time all on.
Refinements DrawRefinements(base::Random& random) {
  if (random.Chance(0.33)) return {};
  return {.positions = random.Chance(0.5),
          .symmetry = random.Chance(0.5),
          .bank_sums = random.Chance(0.5),
          .decomposition = random.Chance(0.5),
          .loose_ends = random.Chance(0.5)};
}

// Packing engines decline most Problems with modes, so a fifth of the draws are packings alone.
Problem DrawAnything(base::Random& random) {
  return random.Chance(0.2) ? encoder::DrawPacking(random) : encoder::DrawProblem(random);
}

// The differences from the truth that an engine may have without being wrong.
struct Party {
  const problem::Engine* engine;
  std::string_view name;
  bool knows_all_kinds = false;
  bool minimises_costs = false;
  bool refutes = true;
};

struct Tally {
  int infeasible = 0;
  int unserved = 0;  // refuted by FindUnservedAccess
  int needs_mode_change = 0;
  int can_cost_something = 0;  // feasible, at a cost above 0
  int costs_found = 0;         // by engines that prove nothing
  int least_costs_found = 0;   // of these
  std::vector<int> kinds;
  std::map<std::string_view, int> decided;  // by party
};

class Differential : public testing::Test {
 protected:
  void Compare(int draw) {
    base::Random random(static_cast<uint64_t>(draw));
    Problem problem = DrawAnything(random);
    if (random.Chance(0.4)) encoder::DrawCosts(random, problem);
    ASSERT_FALSE(problem::CheckWellFormed(problem))
        << base::Format(*problem::CheckWellFormed(problem));
    SCOPED_TRACE(fmt::format("problem {}: {}", draw, problem::files::WriteProblem(problem)));
    const Truth truth = Enumerate(problem);
    if (const std::optional<std::string> unserved = allocate::FindUnservedAccess(problem)) {
      EXPECT_FALSE(truth.feasible) << *unserved;
      ++tally_.unserved;
    }
    const encoder::sat::SatEngine order({0, IntegerEncoding::kOrder, {}, DrawRefinements(random)});
    const encoder::sat::SatEngine bits({0, IntegerEncoding::kBits, {}, DrawRefinements(random)});
    for (const Party& party :
         {Party{&greedy_, "greedy", false, false, false}, Party{&canonical_, "canonical"},
          Party{&local_search_, "local-search", false, false, false},
          Party{&order_search_, "order-search", false, false, false}, Party{&lazy_, "lazy"},
          Party{&order, "cadical, order literals", true, true},
          Party{&bits, "cadical, bits", true, true}, Party{&z3_, "z3", true, true}}) {
      Ask(party, truth);
    }
    AskPortfolio({&greedy_, &canonical_, &local_search_, &order_search_, &lazy_, &order, &z3_},
                 random.Chance(0.5), truth);
  }

  Truth Enumerate(const Problem& problem) {
    const Bytes capacity = problem.memories[0].capacity;
    const auto answer = encoder::Enumerate(problem, capacity);
    Truth truth{problem, capacity, answer.has_value(), std::nullopt};
    if (answer) {
      EXPECT_TRUE(problem::Validate(problem, *answer, capacity).empty());
      if (!problem.costs.empty()) truth.least_cost = encoder::EnumerateLeastCost(problem, capacity);
    }
    Note(truth);
    return truth;
  }

  void Note(const Truth& truth) {
    tally_.infeasible += truth.feasible ? 0 : 1;
    tally_.can_cost_something += truth.least_cost.value_or(0) > 0 ? 1 : 0;
    const bool changes = truth.feasible && !encoder::Enumerate(truth.problem, truth.capacity,
                                                               encoder::ModeChanges::kForbidden);
    tally_.needs_mode_change += changes ? 1 : 0;
    tally_.kinds.resize(kinds_.size());
    for (size_t i = 0; i < kinds_.size(); ++i)
      tally_.kinds[i] += kinds_[i].occurs_in(truth.problem) ? 1 : 0;
  }

  void Ask(const Party& party, const Truth& truth) {
    SCOPED_TRACE(party.name);
    const base::Budget budget =
        party.engine->Refutes() ? base::Budget{} : base::Budget{kStepsOfAFinder};
    const Result result =
        party.engine->Open(truth.problem, nullptr)->Solve(0, truth.capacity, budget, {});
    const bool declined = (!party.knows_all_kinds && result.status == Status::kUnsupported) ||
                          (!party.refutes && result.status == Status::kUnknown);
    if (!declined) {
      ++tally_.decided[party.name];
      ExpectVerdict(truth, result);
    }
    if (truth.problem.costs.empty()) return;
    const Result cheapest =
        party.engine->Open(truth.problem, nullptr)->Minimise(0, truth.capacity, budget, {});
    if (party.minimises_costs) {
      ExpectLeastCost(truth, cheapest);
    } else if (cheapest.allocation) {
      ++tally_.costs_found;
      tally_.least_costs_found += ExpectTrueCost(truth, cheapest) ? 1 : 0;
    } else if (!party.refutes) {
      EXPECT_TRUE(cheapest.status == Status::kUnknown || cheapest.status == Status::kUnsupported);
    } else {
      EXPECT_EQ(NameOf(cheapest.status), NameOf(Status::kUnsupported));
    }
  }

  void AskPortfolio(const std::vector<const problem::Engine*>& engines, bool minimize,
                    const Truth& truth) {
    SCOPED_TRACE(minimize ? "portfolio, least peak" : "portfolio");
    allocate::AllocateOptions options;
    options.capacity = truth.capacity;
    options.minimize = minimize;
    const auto result = allocate::Allocate(truth.problem, nullptr, 0, engines, options);
    ASSERT_TRUE(result) << base::Format(result.error());
    ++tally_.decided["portfolio"];
    ExpectVerdict(truth, *result);
    if (minimize && truth.feasible) ExpectLeastPeak(truth, *result);
    const auto cheapest =
        allocate::FindCheapest(truth.problem, *result, truth.capacity, engines, {}, {});
    ASSERT_TRUE(cheapest) << base::Format(cheapest.error());
    if (!truth.problem.costs.empty()) ExpectLeastCost(truth, *cheapest);
  }

  static void ExpectLeastPeak(const Truth& truth, const Result& result) {
    EXPECT_EQ(NameOf(result.status), NameOf(Status::kOptimal)) << result.reason;
    if (*result.peak == 0) return;
    EXPECT_FALSE(encoder::Enumerate(truth.problem, *result.peak - 1)) << result.reason;
  }

  void ExpectShares(int problems) const {
    EXPECT_GE(tally_.infeasible * 100, 30 * problems);
    EXPECT_GE(tally_.unserved * 100, 3 * problems);
    EXPECT_GE(tally_.needs_mode_change * 100, 25 * problems);
    EXPECT_GE(tally_.can_cost_something * 100, 3 * problems);
    EXPECT_GE(tally_.costs_found * 100, problems);
    EXPECT_GE(tally_.least_costs_found * 100, 95 * tally_.costs_found);
    for (const auto& [party, decided] : tally_.decided) {
      // The finders decide only what fits, and order search supports few kinds.
      const int least = party == local_search_.Name() ? 5 : party == order_search_.Name() ? 2 : 8;
      EXPECT_GE(decided * 100, least * problems) << party;
    }
    for (size_t i = 0; i < kinds_.size(); ++i) {
      EXPECT_GE(tally_.kinds[i] * 100, 5 * problems) << kinds_[i].name;
    }
  }

  void Print(int problems) const {
    const auto print = [&](std::string_view name, int count) {
      std::fputs(fmt::format("{:>6.1f} %  {}\n", 100.0 * count / problems, name).c_str(), stdout);
    };
    std::fputs(fmt::format("{} problems\n", problems).c_str(), stdout);
    print("infeasible", tally_.infeasible);
    print("of which a bank fails an access", tally_.unserved);
    print("need a change of mode", tally_.needs_mode_change);
    print("cannot do without a cost", tally_.can_cost_something);
    for (size_t i = 0; i < kinds_.size(); ++i) print(kinds_[i].name, tally_.kinds[i]);
    for (const auto& [name, count] : tally_.decided)
      print(fmt::format("decided by {}", name), count);
  }

  const std::vector<Kind> kinds_ = AllKinds();
  Tally tally_;

 private:
  const engines::greedy::GreedyEngine greedy_{};
  const engines::canonical::CanonicalEngine canonical_{};
  const engines::local_search::LocalSearchEngine local_search_{};
  const engines::order_search::OrderSearchEngine order_search_{};
  const engines::lazy::LazyEngine lazy_{};
  const encoder::smt::Z3Engine z3_{};
};

TEST_F(Differential, AllEnginesAgreeWithEnumerationOverAllKinds) {
  const int problems = ProblemsWanted();
  for (int draw = 1; draw <= problems && !HasFailure(); ++draw) Compare(draw);
  if (HasFailure()) return;
  Print(problems);
  if (problems >= 1000) ExpectShares(problems);  // else too few to tell
}

}  // namespace
}  // namespace tessera::search
