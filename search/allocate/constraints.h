#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// What the searches of this room leave to other engines, and how they say so.
namespace tessera::search {

// Whether some address that the Problem names, or the sum of its sizes, lies beyond kNowhere (positions.h).
bool ReachesTooFar(const problem::Problem& problem);
// The same with other sizes, parallel to its buffers.
bool ReachesTooFar(const problem::Problem& problem, std::span<const problem::Bytes> sizes);

std::vector<problem::Bytes> SizesOf(const problem::Problem& problem);

enum class BankSupport { kNone, kWindows };

// The first requirement of the Problem that a search over offsets alone cannot honour, in words, or nullopt:
// rules, modes or ports that restrict some access, relations other than separate and exclusive, and, unless windows
// are supported, spans and allowed banks that narrow where a buffer may lie; addresses that reach too far.
// Requirements that restrict nothing are no obstacle.
std::optional<std::string> FindUnsupported(const problem::Problem& problem, BankSupport support);

// A mode of the memory under which every access of the Problem is allowed in every bank and no bank is off,
// so that staying in it for all time is right; nullopt when there is none. Needs a memory with modes.
std::optional<int> FindPermissiveMode(const problem::Problem& problem, int memory);

// Each memory's permissive mode at every step of the horizon; for memories without modes an empty schedule.
// Needs a Problem that FindUnsupported passes.
std::vector<problem::ModeSchedule> ConstantModes(const problem::Problem& problem);

}  // namespace tessera::search
