// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/problem/generate/families.h"

// A chain of operators in banks. Half of the buffers are results. The others are constants that
// transfers bring in:
//
//     step          3        4        5        6        7
//     result      write     read    (lives)   read             written by its operator, read by the
//     next constant    write (dma)        read     read                    and by some later ones
//
// About a quarter of all buffers live at a step. The chain itself is easy. The difficulty comes
// from its surroundings: the capacity is barely above the heaviest step and is cut into banks, a
// bank serves most modes for reading or for writing only, and a buffer is written at one step and
// read at others while its neighbours do the reverse.
namespace tessera::problem::generate {

using base::Random;

namespace {

constexpr Bytes kUnit = 64;         // every size is a multiple
constexpr Bytes kMostUnits = 40;    // of one buffer
constexpr Step kLongestSkip = 8;    // steps from a result to its last reader
constexpr Step kEarliestLoad = 3;   // steps from a transfer to the first reader
constexpr double kReadOnly = 0.33;  // share of banks in a mode; as many can only be written
constexpr double kBoth = 0.24;      // the rest keeps its contents and serves no access

Buffer& AddBuffer(Random& random, Problem& problem, const char* role) {
  Buffer& buffer = problem.buffers.emplace_back();
  buffer.id = "b" + std::to_string(problem.buffers.size() - 1);
  buffer.role = role;
  buffer.size = random.Uniform(1, kMostUnits) * kUnit;
  buffer.span = random.Chance(0.8) ? Span::kSingle : Span::kContiguous;
  return buffer;
}

void AddResult(Random& random, Problem& problem, Step step, Step steps) {
  const Step last = std::min(steps - 1, step + random.Uniform(1, kLongestSkip));
  Buffer& result = AddBuffer(random, problem, "feature");
  result.lifespans = {{step, last + 1}};
  result.accesses = {{step, "pe", AccessKind::kWrite}};
  if (step + 1 < last) result.accesses.push_back({step + 1, "pe", AccessKind::kRead});
  if (step < last) result.accesses.push_back({last, "pe", AccessKind::kRead});
}

void AddConstant(Random& random, Problem& problem, Step step, Step steps) {
  const Step load = std::max<Step>(0, step - random.Uniform(1, kEarliestLoad));
  const Step last = std::min(steps - 1, step + random.Uniform(0, kLongestSkip / 2));
  Buffer& constant = AddBuffer(random, problem, "weights");
  constant.lifespans = {{load, last + 1}};
  constant.accesses = {{load, "dma", AccessKind::kWrite}};
  if (load < step) constant.accesses.push_back({step, "pe", AccessKind::kRead});
  if (step < last) constant.accesses.push_back({last, "pe", AccessKind::kRead});
}

Bytes HeaviestStep(const Problem& problem, Step steps) {
  Bytes heaviest = 0;
  for (Step step = 0; step < steps; ++step) {
    Bytes load = 0;
    for (const Buffer& buffer : problem.buffers) load += LivesAt(buffer, step) ? buffer.size : 0;
    heaviest = std::max(heaviest, load);
  }
  return heaviest;
}

// A buffer larger than a bank would decide the Problem at once, so sizes are limited to that of a
// bank.
void AddBanks(Problem& problem, const BankedShape& shape) {
  problem::Memory& memory = problem.memories[0];
  const Bytes wanted = HeaviestStep(problem, shape.steps) * (100 + shape.slack_percent) / 100;
  const Bytes width = std::max(kUnit, base::RoundUp(base::CeilDiv(wanted, shape.banks), kUnit));
  for (int bank = 0; bank < shape.banks; ++bank) {
    memory.banks.push_back({"bank" + std::to_string(bank), {bank * width, (bank + 1) * width}, {}});
  }
  memory.capacity = shape.banks * width;
  for (Buffer& buffer : problem.buffers) buffer.size = std::min(buffer.size, width);
}

BankMode DrawBankMode(Random& random) {
  const double draw = random.Real();
  BankMode mode;
  if (draw < kReadOnly + kBoth) mode.allowed.push_back({"", AccessKind::kRead});
  if (draw >= kReadOnly && draw < 2 * kReadOnly + kBoth)
    mode.allowed.push_back({"", AccessKind::kWrite});
  return mode;
}

bool Permits(const BankMode& mode, AccessKind kind) {
  return std::any_of(
      mode.allowed.begin(), mode.allowed.end(),
      [kind](const problem::Permission& permission) { return permission.kind == kind; });
}

// Whether the buffers that are accessed at `step`, taken largest first, all find space in banks
// that serve them in this mode.
bool ServesAlone(const Problem& problem, const problem::Mode& mode, Step step) {
  struct User {
    Bytes size;
    AccessKind kind;
  };
  std::vector<User> users;
  for (const Buffer& buffer : problem.buffers) {
    for (const Access& access : buffer.accesses) {
      if (access.step == step) users.push_back({buffer.size, access.kind});
    }
  }
  std::stable_sort(users.begin(), users.end(),
                   [](const User& a, const User& b) { return a.size > b.size; });
  std::vector<Bytes> room;
  for (const problem::Bank& bank : problem.memories[0].banks)
    room.push_back(bank.range.end - bank.range.begin);
  return std::all_of(users.begin(), users.end(), [&](const User& user) {
    for (size_t bank = 0; bank < room.size(); ++bank) {
      if (room[bank] < user.size || !Permits(mode.banks[bank], user.kind)) continue;
      room[bank] -= user.size;
      return true;
    }
    return false;
  });
}

// Draws the modes. As long as no mode serves a step, a random bank of a random mode is opened for
// all accesses.
void AddModes(Random& random, Problem& problem, const BankedShape& shape) {
  problem::Memory& memory = problem.memories[0];
  for (int m = 0; m < shape.modes; ++m) {
    problem::Mode& mode = memory.modes.emplace_back();
    mode.name = "mode" + std::to_string(m);
    for (int bank = 0; bank < shape.banks; ++bank) mode.banks.push_back(DrawBankMode(random));
  }
  const int most_openings = 4 * shape.modes * shape.banks;
  for (Step step = 0; step < shape.steps; ++step) {
    for (int opening = 0; opening < most_openings; ++opening) {
      const bool served =
          std::any_of(memory.modes.begin(), memory.modes.end(),
                      [&](const problem::Mode& mode) { return ServesAlone(problem, mode, step); });
      if (served) break;
      const auto mode = static_cast<size_t>(random.Uniform(0, shape.modes - 1));
      const auto bank = static_cast<size_t>(random.Uniform(0, shape.banks - 1));
      memory.modes[mode].banks[bank].allowed = {{"", AccessKind::kRead}, {"", AccessKind::kWrite}};
    }
  }
}

}  // namespace

Problem MakeBanked(const BankedShape& shape, uint64_t seed) {
  Random random(seed);
  Problem problem;
  problem.name = "banked " + std::to_string(seed);
  problem.memories.emplace_back().name = "memory";
  const int results = (shape.buffers + 1) / 2;
  for (int i = 0; i < shape.buffers; ++i) {
    const Step step = i / 2 * shape.steps / results;
    if (i % 2 == 0) AddResult(random, problem, step, shape.steps);
    if (i % 2 == 1) AddConstant(random, problem, step, shape.steps);
  }
  AddBanks(problem, shape);
  AddModes(random, problem, shape);
  return problem;
}

}  // namespace tessera::problem::generate
