#include "tessera/problem/phrases.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/base/utf8.h"

namespace tessera::problem {
namespace {

constexpr size_t kMostNames = 12;

const Memory& MemoryAt(const Problem& problem, int memory) {
  return problem.memories[static_cast<size_t>(memory)];
}

}  // namespace

std::string Quote(std::string_view name) { return fmt::format("'{}'", base::Printable(name)); }

std::string Enumerate(const std::vector<std::string>& words) {
  const size_t named = std::min(words.size(), kMostNames);
  std::string text;
  for (size_t i = 0; i < named; ++i) {
    const bool last = i + 1 == words.size();
    text += (i == 0 ? "" : last ? " and " : ", ") + words[i];
  }
  if (words.size() > named) text += fmt::format(" and {} more", words.size() - named);
  return text;
}

std::string Count(int64_t number, std::string_view thing) {
  return fmt::format("{} {}{}", number, thing, number == 1 ? "" : "s");
}

std::string NameOfBuffer(const Problem& problem, int buffer) {
  return Quote(problem.buffers[static_cast<size_t>(buffer)].id);
}

std::string NameOfMemory(const Problem& problem, int memory) {
  if (const std::string& name = MemoryAt(problem, memory).name; !name.empty()) return Quote(name);
  return problem.memories.size() == 1 ? "the memory" : fmt::format("memory {}", memory);
}

std::string NameOfBank(const Problem& problem, int memory, int bank) {
  const std::string& name = MemoryAt(problem, memory).banks[static_cast<size_t>(bank)].name;
  return name.empty() ? fmt::format("bank {}", bank) : Quote(name);
}

std::string NameOfMode(const Problem& problem, int memory, int mode) {
  const std::string& name = MemoryAt(problem, memory).modes[static_cast<size_t>(mode)].name;
  return name.empty() ? fmt::format("mode {}", mode) : Quote(name);
}

}  // namespace tessera::problem
