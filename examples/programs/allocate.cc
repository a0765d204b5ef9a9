// SPDX-License-Identifier: Apache-2.0

#include <cstdio>

#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"

// MiniMalloc's example: five buffers, the least memory that holds them, and the offset of each
// buffer. It links the allocator alone, without a solver or a parser; scripts/size prints the size.
int main() {
  using namespace tessera;
  problem::Problem problem;
  problem.memories.emplace_back();
  const auto add = [&](const char* id, problem::Step lower, problem::Step upper,
                       problem::Bytes size) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.lifespans = {{lower, upper}};
    buffer.size = size;
  };
  add("b1", 0, 3, 4);
  add("b2", 3, 9, 4);
  add("b3", 0, 9, 4);
  add("b4", 9, 21, 4);
  add("b5", 0, 21, 4);

  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical;
  const problem::Engine* const engines[] = {&greedy, &canonical};
  search::allocate::AllocateOptions options;
  options.minimize = true;
  options.capacity = 64;
  const auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  if (!result || !result->allocation) return 1;

  std::printf("%s, peak %lld\n", problem::NameOf(result->status).data(),
              static_cast<long long>(*result->peak));
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    std::printf("%s at %lld\n", problem.buffers[i].id.c_str(),
                static_cast<long long>(result->allocation->offsets[i]));
  }
  return 0;
}
