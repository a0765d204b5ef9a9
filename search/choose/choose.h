// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search::choose {

struct ChooseOptions {
  std::optional<problem::Bytes> capacity;  // of memories[0]; nullopt: the capacity in the Problem
  // The fallbacks by buffer of the problem; nullptr: there are none.
  const problem::Fallbacks* fallbacks = nullptr;
  base::Budget budget;  // of one placement, in the units of engines
  base::Threads threads = {};
  uint64_t seed = 0;
  const base::Stop* stop = nullptr;
  base::ProgressFunction progress;  // lines; may be empty
};

struct Choice {
  problem::Status status = problem::Status::kUnknown;
  std::vector<bool> chosen = {};                  // by buffer, if there is a placement
  std::vector<bool> stands_in = {};               // by buffer: its fallback is placed
  std::vector<problem::Bytes> offsets = {};       // by buffer: of the buffer or of its fallback
  std::vector<problem::ModeSchedule> modes = {};  // as in an Allocation
  int64_t value = 0;                              // of the chosen buffers and the placed fallbacks
  int64_t bound = 0;                              // no choice that fits is worth more
  std::string engine = {};                        // the one that placed the chosen buffers
  std::string reason = {};
};

// Returns the buffers of greatest value that fit together, and their placement. Buffers without a
// value are always placed; buffers at fixed distances are placed or left out together. The chosen
// buffers keep all requirements of Allocate. If a buffer with a fallback is left out, its fallback
// is placed: it keeps the steps, accesses and alignment of the buffer, and nothing else.
//
// - Upper bound: prices of bytes (value_bound.h), which come close to the linear relaxation.
// - Choices: first fit of the most attractive buffers (fill.h), for plain buffers. For others,
//   engines place the most attractive buffers; each attempt leaves out more of them. The first
//   choice comes before most of the search for prices, which takes long for many buffers.
// - Proof: the best subset by bytes alone (subsets.h). If engines place it, it is optimal. If they
//   prove that it does not fit, the search excludes a minimal part of it that does not fit (a core)
//   and continues with the next best subset: logic-based Benders decomposition (Hooker and
//   Ottosson, Mathematical Programming 96, 2003). If few buffers live at a time, this ends quickly
//   for any number of buffers.
//
// kOptimal: the value equals the bound. kFeasible: the bound may be too high, or the value too low.
// kInfeasible: the buffers without a value do not fit. kUnsupported: no engine supports the
// buffers, and nothing was placed. kUnknown, kInvalid: as for Allocate.
// The answer is checked by problem::Validate; an engine's wrong answer is a fault of the program.
// The answer is the same for the same input, options and seed on any number of threads, unless a
// stop cuts the work off.
base::Expected<Choice> Choose(const problem::Problem& problem,
                              std::span<const problem::Engine* const> engines,
                              const ChooseOptions& options);

}  // namespace tessera::search::choose
