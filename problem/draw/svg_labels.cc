// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/draw/svg_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/text.h"
#include "tessera/problem/draw/pictures.h"

namespace tessera::problem::draw {

std::string AddressLabel(Bytes address, Bytes tick) {
  if (tick % 1024 == 0) return fmt::format("{} KiB", address / 1024);
  return fmt::format("{}", address);
}

std::string Fit(std::string_view whole, double width) {
  std::string text = base::Printable(whole);
  const auto letters = static_cast<size_t>(std::max(0.0, (width - 4) / kLetter));
  if (text.size() <= letters) return text;
  if (letters < 3) return "";
  return std::string(base::Shortened(text, letters - 1)) + "…";
}

int64_t TickOf(int64_t extent, int64_t most, bool binary) {
  int64_t tick = 1;
  for (int i = 0; extent / tick > most; ++i) {
    if (binary) {
      tick *= 2;
    } else {
      tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
    }
  }
  return tick;
}

std::vector<std::string_view> RolesOf(const Problem& problem) {
  std::vector<std::string_view> roles;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.role.empty() || std::find(roles.begin(), roles.end(), buffer.role) != roles.end())
      continue;
    roles.emplace_back(buffer.role);
  }
  return roles;
}

std::string TooltipOf(const Buffer& buffer, Bytes offset) {
  std::string text = buffer.id;
  if (!buffer.name.empty()) text += fmt::format(" ({})", buffer.name);
  if (!buffer.role.empty()) text += fmt::format(", {}", buffer.role);
  text += fmt::format(": {} bytes at [{}, {}), lives", buffer.size, offset, offset + buffer.size);
  for (const Lifespan& life : buffer.lifespans)
    text += fmt::format(" [{}, {})", life.lower, life.upper);
  return text;
}

std::string BankSetsIn(const Memory& memory) {
  std::string text;
  for (const std::string& line : DescribeBankSets(memory)) text += "; " + line;
  return text;
}

std::vector<std::pair<Loop, int>> LoopsByDepth(const Problem& problem) {
  std::vector<std::pair<Loop, int>> loops;
  for (const Loop& loop : problem.loops) {
    const auto depth =
        std::count_if(problem.loops.begin(), problem.loops.end(), [&](const Loop& outer) {
          return outer.begin <= loop.begin && loop.end <= outer.end && !(outer == loop);
        });
    loops.emplace_back(loop, static_cast<int>(depth));
  }
  return loops;
}

}  // namespace tessera::problem::draw
