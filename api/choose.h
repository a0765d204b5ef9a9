// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_CHOOSE_H_
#define TESSERA_CHOOSE_H_

#include <tessera/allocate.h>
#include <tessera/call.h>
#include <tessera/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// The buffers of greatest value that fit (docs/choose.md), such as what a compiler keeps in a fast
// memory. Buffers of CSV and JSON may state a value and a fallback.
namespace tessera {
inline namespace v0 {

struct ChooseOptions : SearchOptions {
  std::optional<std::int64_t> capacity = {};  // bytes of the first memory; not set: the problem's
};

enum class Chosen : std::uint8_t {
  kPlaced,
  kFallback,  // its fallback is placed
  kLeftOut,
};

struct ChooseAnswer {
  // kOptimal: no choice that fits is worth more. kFeasible: a better one may exist, up to `bound`.
  // kInfeasible: the buffers without a value do not fit.
  Outcome outcome = Outcome::kUnknown;
  std::vector<Chosen> chosen = {};         // in the order of the buffers
  std::vector<std::int64_t> offsets = {};  // bytes: of the buffer or its fallback; 0 if left out
  std::int64_t value = 0;                  // of what is placed
  std::int64_t bound = 0;                  // no choice that fits is worth more
  // The placement of the chosen buffers and fallbacks, as a problem of its own.
  std::optional<Allocation> allocation = {};
  std::string engine = {};  // that placed them
  std::string reason = {};  // why there is no choice, or no better one known
  std::string text = {};    // as `tessera alloc --maximize value` prints it
  std::string json = {};    // the same with --format json
  bool stopped = false;     // a deadline, a memory limit or a cancellation cut it off
};

// Returns the choice of greatest value that is found. Buffers without a value are always placed.
TESSERA_API Result<ChooseAnswer> Choose(const Problem& problem, const ChooseOptions& options = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CHOOSE_H_
