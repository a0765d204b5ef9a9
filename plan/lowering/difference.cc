#include "tessera/plan/lowering/difference.h"

#include <fmt/core.h>

#include <algorithm>

namespace tessera::plan::lowering {
namespace {

// The first place where two lists differ, in words; empty where they do not.
template <typename T>
std::string FirstDifference(const std::vector<T>& found, const std::vector<T>& expected,
                            std::string_view what) {
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    if (!(found[i] == expected[i])) return fmt::format("{} {} is not what the plan makes of it", what, i);
  }
  if (found.size() == expected.size()) return "";
  return fmt::format("there are {} of {} where the plan has {}", found.size(), what, expected.size());
}

std::string DifferenceOf(const Job& found, const Job& expected) {
  if (std::string told = FirstDifference(found.operands, expected.operands, "operand"); !told.empty())
    return told;
  return FirstDifference(found.waits, expected.waits, "depends_on");
}

std::string DifferenceOf(const Lowered& found, const Lowered& expected) {
  std::string told = FirstDifference(found.loops, expected.loops, "loop");
  if (told.empty() && found.parities != expected.parities) told = "it has another number of parities";
  for (size_t i = 0; told.empty() && i < std::min(found.jobs.size(), expected.jobs.size()); ++i) {
    told = DifferenceOf(found.jobs[i], expected.jobs[i]);
    if (!told.empty()) told = fmt::format("job {}: {}", i, told);
  }
  if (told.empty()) told = FirstDifference(found.jobs, expected.jobs, "job");
  if (told.empty()) told = FirstDifference(found.once, expected.once, "work that is done once");
  for (size_t i = 0; told.empty() && i < std::min(found.classes.size(), expected.classes.size()); ++i) {
    told = FirstDifference(found.classes[i].work, expected.classes[i].work, "work");
    if (!told.empty()) told = fmt::format("class {}: {}", i, told);
  }
  return told.empty() ? FirstDifference(found.classes, expected.classes, "class") : told;
}

}  // namespace

std::vector<std::string> FindDifferences(const Program& found, const Program& expected) {
  std::vector<std::string> differences;
  for (size_t i = 0; i < std::min(found.subgraphs.size(), expected.subgraphs.size()); ++i) {
    const std::string told = DifferenceOf(found.subgraphs[i], expected.subgraphs[i]);
    if (!told.empty()) differences.push_back(fmt::format("subgraph {}: {}", i, told));
  }
  if (found.subgraphs.size() != expected.subgraphs.size())
    differences.emplace_back("it has another number of subgraphs");
  return differences;
}

}  // namespace tessera::plan::lowering
