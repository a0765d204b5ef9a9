// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "../execute/base_plans.h"
#include "../execute/kept_plans.h"
#include "../fixture.h"
#include "lowered_plans.h"
#include "tessera/plan/lowering/lowering.h"

// The test changes the parts of a valid lowering one at a time. Each fault must be found: by the
// interpreter where it does harm, by the comparison with a new lowering in any case.
namespace tessera::plan::lowering {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class Faults : public testing::TestWithParam<NamedPlan> {
 protected:
  Faults() : plan_(WithLowering(GetParam().plan())) {}

  // Changes a copy and runs the checks.
  void ExpectFound(const std::function<void(Program&)>& spoil, const std::string& what,
                   bool harm = true) const {
    Plan spoiled = plan_;
    spoil(*spoiled.lowering);
    if (harm) {
      EXPECT_THAT(FindingsIn(spoiled), Not(IsEmpty())) << what;
    }
    EXPECT_THAT(FindDifferences(*spoiled.lowering, *plan_.lowering), Not(IsEmpty())) << what;
  }

  template <typename Visit>
  void ForEachJob(const Visit& visit) const {
    for (size_t s = 0; s < plan_.lowering->subgraphs.size(); ++s) {
      for (size_t j = 0; j < plan_.lowering->subgraphs[s].jobs.size(); ++j) visit(s, j);
    }
  }

  const Job& JobAt(size_t subgraph, size_t job) const {
    return plan_.lowering->subgraphs[subgraph].jobs[job];
  }

  // Whether some box of the operand has more than one index along the axis, pads included.
  bool Walks(size_t subgraph, size_t job, size_t operand, size_t axis) const {
    const Lowered& lowered = plan_.lowering->subgraphs[subgraph];
    std::vector<Work> all = lowered.once;
    for (const TileClass& tiles : lowered.classes)
      all.insert(all.end(), tiles.work.begin(), tiles.work.end());
    return std::any_of(all.begin(), all.end(), [&](const Work& work) {
      if (work.job != static_cast<int>(job)) return false;
      for (size_t i = 0; i < work.regions.size(); ++i) {
        const Region& region = work.regions[i];
        if (region.operand != operand) continue;
        const Region& box = region.extent.empty() && i > 0 ? work.regions[i - 1] : region;
        const bool stored = lowered.jobs[job].operands[operand].stored_pads;
        const bool pads = stored && !region.pad_low.empty() &&
                          (region.pad_low[axis].base > 0 || region.pad_high[axis].base > 0);
        if (box.extent[axis].base > 1 || pads || (axis == 2 && region.turn != Affine{}))
          return true;
      }
      return false;
    });
  }

  const Plan plan_;
};

TEST_P(Faults, AWaitThatIsDropped) {
  ForEachJob([&](size_t s, size_t j) {
    for (size_t w = 0; w < JobAt(s, j).waits.size(); ++w) {
      ExpectFound(
          [&](Program& program) {
            std::vector<Wait>& waits = program.subgraphs[s].jobs[j].waits;
            waits.erase(waits.begin() + static_cast<std::ptrdiff_t>(w));
          },
          fmt::format("subgraph {}, job {}, wait {}", s, j, w));
    }
  });
}

TEST_P(Faults, AnAddressThatIsMoved) {
  ForEachJob([&](size_t s, size_t j) {
    for (size_t o = 0; o < JobAt(s, j).operands.size(); ++o) {
      for (size_t i = 0; i < JobAt(s, j).operands[o].spots.size(); ++i) {
        ExpectFound(
            [&](Program& program) {
              program.subgraphs[s].jobs[j].operands[o].spots[i].address += 1;
            },
            fmt::format("subgraph {}, job {}, operand {}", s, j, o));
      }
    }
  });
}

TEST_P(Faults, AStrideThatIsChanged) {
  ForEachJob([&](size_t s, size_t j) {
    for (size_t o = 0; o < JobAt(s, j).operands.size(); ++o) {
      if (JobAt(s, j).operands[o].part == Part::kScratch) continue;  // may lie anywhere
      for (size_t axis = 0; axis < JobAt(s, j).operands[o].strides.size(); ++axis) {
        if (!Walks(s, j, o, axis)) continue;
        ExpectFound(
            [&](Program& program) { program.subgraphs[s].jobs[j].operands[o].strides[axis] += 1; },
            fmt::format("subgraph {}, job {}, operand {}, axis {}", s, j, o, axis));
      }
    }
  });
}

TEST_P(Faults, ARollingBufferOfOtherLength) {
  ForEachJob([&](size_t s, size_t j) {
    for (size_t o = 0; o < JobAt(s, j).operands.size(); ++o) {
      if (JobAt(s, j).operands[o].rolling_buffer_rows == 0) continue;
      ExpectFound(
          [&](Program& program) {
            program.subgraphs[s].jobs[j].operands[o].rolling_buffer_rows += 1;
          },
          fmt::format("subgraph {}, job {}, operand {}", s, j, o));
    }
  });
}

// The meaning of a region's numbers, in the order of ForEachNumber.
enum class Number : uint8_t { kBegin, kExtent, kPad, kOffset, kTurn };

std::vector<Number> NumbersOf(const Region& region) {
  std::vector<Number> numbers(region.begin.size(), Number::kBegin);
  numbers.insert(numbers.end(), region.extent.size(), Number::kExtent);
  numbers.insert(numbers.end(), region.pad_low.size() + region.pad_high.size(), Number::kPad);
  numbers.push_back(Number::kOffset);
  numbers.push_back(Number::kTurn);
  return numbers;
}

// Whether the bytes of a region are already at their destination: rows that are copied onto
// themselves, slices that still lie where they lay two tiles before.
bool IsThere(const Job& job, const std::vector<Region>& regions, size_t region) {
  if (job.does == Does::kLoad && job.op >= 0) return true;
  if (job.does != Does::kSave || region + 1 >= regions.size()) return false;
  const auto address = [&](const Region& at) {
    return job.operands[at.operand].spots.front().address + at.offset.base;
  };
  return address(regions[region]) == address(regions[region + 1]);
}

// Whether a change of a number by one must do harm. These changes do none: pads that no window
// reaches, the position of an empty region, and a smaller move of bytes that are already there.
bool DoesHarm(Number number, const Operand& operand, const std::vector<Affine>& extent,
              bool is_there) {
  const bool empty =
      std::any_of(extent.begin(), extent.end(), [](const Affine& e) { return e.base == 0; });
  if (number == Number::kTurn) return operand.rolling_buffer_rows > 0 && !empty;
  if (number == Number::kPad) return operand.part == Part::kInput;
  if (number == Number::kExtent && is_there) return false;
  return !empty;
}

// Every number of every region of every class; extents are made smaller, all others larger.
TEST_P(Faults, ARegionThatIsWrong) {
  for (size_t s = 0; s < plan_.lowering->subgraphs.size(); ++s) {
    for (size_t c = 0; c < plan_.lowering->subgraphs[s].classes.size(); ++c) {
      const std::vector<Work>& all = plan_.lowering->subgraphs[s].classes[c].work;
      for (size_t w = 0; w < all.size(); ++w) {
        for (size_t r = 0; r < all[w].regions.size(); ++r) {
          const Job& job = JobAt(s, static_cast<size_t>(all[w].job));
          const Operand& operand = job.operands[all[w].regions[r].operand];
          if (operand.part == Part::kScratch) continue;
          const std::vector<Affine>& extent =
              all[w].regions[operand.part == Part::kTo ? r - 1 : r].extent;
          const std::vector<Number> numbers = NumbersOf(all[w].regions[r]);
          for (size_t n = 0; n < numbers.size(); ++n) {
            const auto spoil = [&](Program& program) {
              size_t next = 0;
              ForEachNumber(program.subgraphs[s].classes[c].work[w].regions[r],
                            [&](Affine& number) {
                              if (next++ == n)
                                number.base += numbers[n] == Number::kExtent ? -1 : 1;
                            });
            };
            ExpectFound(
                spoil,
                fmt::format("subgraph {}, class {}, work {}, region {}, number {}", s, c, w, r, n),
                DoesHarm(numbers[n], operand, extent, IsThere(job, all[w].regions, r)));
          }
        }
      }
    }
  }
}

// Pads that no job writes, where pads are stored.
using PaddedFaults = Faults;

TEST_P(PaddedFaults, PadsThatAreNotThere) {
  ForEachJob([&](size_t s, size_t j) {
    for (size_t o = 0; o < JobAt(s, j).operands.size(); ++o) {
      const Part part = JobAt(s, j).operands[o].part;
      if (part != Part::kTo && part != Part::kOutput) continue;
      bool written = false;
      const auto spoil = [&](Program& program) {
        for (TileClass& tiles : program.subgraphs[s].classes) {
          for (Work& work : tiles.work) {
            for (Region& region : work.regions) {
              if (work.job != static_cast<int>(j) || region.operand != o) continue;
              written = written || !region.pad_low.empty();
              region.pad_low.clear();
              region.pad_high.clear();
            }
          }
        }
      };
      Program probe = *plan_.lowering;
      spoil(probe);
      if (written) ExpectFound(spoil, fmt::format("subgraph {}, job {}, operand {}", s, j, o));
    }
  });
}

// The innermost loop with several trips in a class.
size_t LoopOf(const TileClass& tiles) {
  size_t loop = tiles.trips.size();
  while (loop > 0 && tiles.trips[loop - 1].end == tiles.trips[loop - 1].begin + 1) --loop;
  return loop == 0 ? 0 : loop - 1;
}

// Numbers that grow along the loops. Moving more than is needed does no harm.
TEST_P(Faults, GrowthThatIsWrong) {
  for (size_t s = 0; s < plan_.lowering->subgraphs.size(); ++s) {
    for (size_t c = 0; c < plan_.lowering->subgraphs[s].classes.size(); ++c) {
      const std::vector<Work>& all = plan_.lowering->subgraphs[s].classes[c].work;
      for (size_t w = 0; w < all.size(); ++w) {
        for (size_t r = 0; r < all[w].regions.size(); ++r) {
          const Job& job = JobAt(s, static_cast<size_t>(all[w].job));
          const bool input = job.operands[all[w].regions[r].operand].part == Part::kInput;
          const std::vector<Number> numbers = NumbersOf(all[w].regions[r]);
          size_t n = 0;
          ForEachNumber(all[w].regions[r], [&](const Affine& affine) {
            const size_t wrong = n++;
            const size_t loop = LoopOf(plan_.lowering->subgraphs[s].classes[c]);
            if (affine.steps.empty()) return;
            const auto spoil = [&](Program& program) {
              size_t next = 0;
              ForEachNumber(program.subgraphs[s].classes[c].work[w].regions[r],
                            [&](Affine& number) {
                              if (next++ == wrong) number.steps[loop] += 1;
                            });
            };
            const bool surplus =
                numbers[wrong] == Number::kExtent || numbers[wrong] == Number::kPad;
            ExpectFound(spoil,
                        fmt::format("subgraph {}, class {}, work {}, region {}, number {}", s, c, w,
                                    r, wrong),
                        input || !surplus);
          });
        }
      }
    }
  }
}

TEST_P(Faults, WorkThatIsLeftOut) {
  for (size_t s = 0; s < plan_.lowering->subgraphs.size(); ++s) {
    for (size_t c = 0; c < plan_.lowering->subgraphs[s].classes.size(); ++c) {
      const std::vector<Work>& all = plan_.lowering->subgraphs[s].classes[c].work;
      for (size_t w = 0; w < all.size(); ++w) {
        const Job& job = JobAt(s, static_cast<size_t>(all[w].job));
        const auto spoil = [&](Program& program) {
          std::vector<Work>& work = program.subgraphs[s].classes[c].work;
          work.erase(work.begin() + static_cast<std::ptrdiff_t>(w));
        };
        ExpectFound(spoil, fmt::format("subgraph {}, class {}, work {}", s, c, w),
                    !IsThere(job, all[w].regions, 0));
      }
    }
  }
}

TEST_P(Faults, AnotherEngine) {
  ForEachJob([&](size_t s, size_t j) {
    if (JobAt(s, j).does == Does::kMode) return;
    ExpectFound([&](Program& program) { program.subgraphs[s].jobs[j].on += "x"; },
                fmt::format("job {}", j));
  });
}

INSTANTIATE_TEST_SUITE_P(Plans, Faults, testing::ValuesIn(PlansOfEveryKind()),
                         [](const auto& info) { return std::string(info.param.name); });

INSTANTIATE_TEST_SUITE_P(
    Plans, PaddedFaults,
    testing::Values(NamedPlan{"StoredPads", execute::StoredPads},
                    NamedPlan{"WholeWithPads", execute::WholeWithPads},
                    NamedPlan{"AdjacentStoredPads", execute::AdjacentStoredPads},
                    NamedPlan{"RollingBufferStoredPads", execute::RollingBufferStoredPads}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Fault, JobsThatWaitForEachOther) {
  Plan plan = WithLowering(PlansOfEveryKind().front().plan());
  std::vector<Job>& jobs = plan.lowering->subgraphs[0].jobs;
  ASSERT_FALSE(jobs.back().waits.empty());
  Wait back;
  back.job = static_cast<int>(jobs.size()) - 1;
  jobs[static_cast<size_t>(jobs.back().waits.front().job)].waits.push_back(back);
  EXPECT_THAT(FindingsIn(plan), Contains(HasSubstr("wait for each other")));
}

TEST(Fault, ATileInTwoClassesOrNone) {
  const Plan plan = WithLowering(PlansOfEveryKind().front().plan());
  Plan twice = plan;
  twice.lowering->subgraphs[0].classes.push_back(twice.lowering->subgraphs[0].classes.front());
  EXPECT_THAT(FindingsIn(twice), Contains(HasSubstr("is in two classes")));
  Plan never = plan;
  never.lowering->subgraphs[0].classes.pop_back();
  EXPECT_THAT(FindingsIn(never), Contains(HasSubstr("is in no class")));
}

TEST(Fault, LoopsOfAnotherTile) {
  Plan plan = WithLowering(PlansOfEveryKind().front().plan());
  plan.lowering->subgraphs[0].loops.at(0).tile += 1;
  EXPECT_THAT(FindingsIn(plan), Contains(HasSubstr("its loops are not those of the tile")));
}

// The plan's compute job takes an operand from its home, and puts its result there.
TEST(Fault, AnAccessInAMemoryThatEnginesCannotReach) {
  Plan plan = WithLowering(OneConvPlan());
  std::vector<Job>& jobs = plan.lowering->subgraphs[0].jobs;
  const auto is_load = [](const Job& job) { return job.does == Does::kLoad && job.tensor == 0; };
  const auto does = [](Does what) { return [what](const Job& job) { return job.does == what; }; };
  const auto load = std::find_if(jobs.begin(), jobs.end(), is_load);
  const auto store = std::find_if(jobs.begin(), jobs.end(), does(Does::kStore));
  const auto compute = std::find_if(jobs.begin(), jobs.end(), does(Does::kCompute));
  for (Operand& operand : compute->operands) {
    if (operand.part != Part::kInput && operand.part != Part::kOutput) continue;
    const Operand& home =
        operand.part == Part::kInput ? load->operands.front() : store->operands.back();
    operand.memory = home.memory;
    operand.spots = home.spots;
    operand.strides = home.strides;
  }
  const std::vector<std::string> faults = {
      "subgraph 0: compute 'conv': reads 'x' in memory 'dram', which no engine reads",
      "subgraph 0: compute 'conv': writes 'y' in memory 'dram', which no engine writes"};
  EXPECT_EQ(FindForbidden(plan), faults);
  for (const std::string& fault : faults) EXPECT_THAT(FindingsIn(plan), Contains(fault));
  plan.profile.memories[1].direct_read = plan.profile.memories[1].direct_write = true;
  EXPECT_THAT(FindForbidden(plan), IsEmpty());
  for (hw_profiles::RoleLayout& role : plan.profile.roles) role.tiles_only = true;
  EXPECT_EQ(FindForbidden(plan),
            std::vector<std::string>({"subgraph 0: compute 'conv': reads 'x' in memory 'dram', "
                                      "where no engine reads tensors of its role",
                                      "subgraph 0: compute 'conv': writes 'y' in memory 'dram', "
                                      "where no engine writes tensors of its role"}));
}

TEST(Fault, AStoreToAMemoryThatCannotBeWritten) {
  Plan plan = WithLowering(OneConvPlan());
  EXPECT_THAT(FindForbidden(plan), IsEmpty());
  plan.profile.memories[1].writable = false;
  EXPECT_THAT(FindForbidden(plan),
              testing::ElementsAre("subgraph 0: store 'y': writes 'y' in memory 'dram', which "
                                   "cannot be written"));
}

TEST(Fault, ASubgraphThatIsNotLowered) {
  Plan plan = WithLowering(PlansOfEveryKind().front().plan());
  plan.lowering->subgraphs.pop_back();
  EXPECT_THAT(FindingsIn(plan), testing::ElementsAre("obstacle: not every subgraph is lowered"));
}

}  // namespace
}  // namespace tessera::plan::lowering
