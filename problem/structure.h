// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

// Properties of a Problem that both engines and formulations use. The validator and the checker of
// certificates do not use them.
namespace tessera::problem {

// Whether the access is allowed in a bank in this state. The bank must not be off.
bool Permits(const BankMode& bank, const Access& access);

// Whether a live buffer may lie in a bank in this state at the step: the bank is not off, and
// permits all accesses to the buffer at that step.
bool Serves(const BankMode& bank, const Buffer& buffer, Step step);

// Ascending: the steps at which the mode of its memory matters to the buffer. These are the steps
// of its accesses, and all steps of its lifespans if some bank can be off.
std::vector<Step> StepsThatMatter(const Memory& memory, const Buffer& buffer);

// Whether some port count is limited.
bool HasPorts(const Bank& bank);
bool HasPorts(const Memory& memory);

// Whether spans and allowed banks restrict the positions of the buffer.
bool BanksNarrow(const Problem& problem, const Buffer& buffer);

// Returns a mode of the memory in which every access of the Problem is allowed in every bank and no
// bank is off; staying in this mode is then always valid. nullopt if there is none. The memory must
// have modes.
std::optional<int> FindPermissiveMode(const Problem& problem, int memory);

// Returns the permissive mode of each memory at every step of the horizon; an empty schedule for
// memories without modes. Every memory with modes must have a permissive one.
std::vector<ModeSchedule> ConstantModes(const Problem& problem);

// The sizes of one buffer for all candidates; one size without a ladder.
std::vector<Bytes> SizesOf(const Problem& problem, const Ladder* ladder, size_t buffer);

// The size rounded up to a power of two; 1 <= size <= 2^62.
Bytes NaturalAlignmentOf(Bytes size);

}  // namespace tessera::problem
