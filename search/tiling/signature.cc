#include "tessera/search/tiling/signature.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "tessera/problem/json.h"

// The signature is the text of the Problem in JSON: all that a Problem can say is in it, whatever that comes to be, and two
// texts are compared in full. It is long, some kilobytes, but made once for a ladder.
namespace tessera::search {
namespace {

using problem::Problem;
using problem::Step;

bool StepsMatter(const Problem& problem) {
  return std::any_of(problem.memories.begin(), problem.memories.end(), [](const problem::Memory& memory) {
    return !memory.modes.empty() ||
           std::any_of(memory.banks.begin(), memory.banks.end(), [](const problem::Bank& bank) {
             return bank.ports.total || bank.ports.reads || bank.ports.writes;
           });
  });
}

void NumberSteps(Problem& problem) {
  std::vector<Step> borders;
  for (const problem::Buffer& buffer : problem.buffers) {
    for (const problem::Lifespan& life : buffer.lifespans) {
      borders.push_back(life.lower);
      borders.push_back(life.upper);
    }
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  const auto number = [&borders](Step step) {
    return static_cast<Step>(std::lower_bound(borders.begin(), borders.end(), step) - borders.begin());
  };
  for (problem::Buffer& buffer : problem.buffers) {
    for (problem::Lifespan& life : buffer.lifespans) life = {number(life.lower), number(life.upper)};
  }
}

bool IsDigit(char c) { return '0' <= c && c <= '9'; }

}  // namespace

Problem WithoutNames(const Problem& problem) {
  Problem nameless = problem;
  nameless.name.clear();
  for (size_t i = 0; i < nameless.buffers.size(); ++i) {
    problem::Buffer& buffer = nameless.buffers[i];
    buffer.id = "#" + std::to_string(i);
    buffer.name.clear();
    buffer.role.clear();
    buffer.annotations.clear();
  }
  for (problem::Rule& rule : nameless.rules) rule.name.clear();
  for (problem::Cost& cost : nameless.costs) cost.name.clear();
  if (StepsMatter(problem)) return nameless;
  for (problem::Buffer& buffer : nameless.buffers) buffer.accesses.clear();
  nameless.loops.clear();
  NumberSteps(nameless);
  return nameless;
}

std::string SignatureOf(const Problem& nameless) {
  Problem unsized = nameless;
  for (problem::Buffer& buffer : unsized.buffers) buffer.size = 1;
  return problem::WriteProblem(unsized);
}

std::string RestoreNames(const std::string& sentence, const Problem& problem) {
  std::string restored;
  for (size_t at = 0; at < sentence.size();) {
    size_t end = at + 1;
    while (sentence[at] == '#' && end < sentence.size() && IsDigit(sentence[end])) ++end;
    const std::string word = sentence.substr(at, end - at);
    const bool is_name = word.size() > 1;
    restored += is_name ? problem.buffers[std::stoul(word.substr(1))].id : word;
    at = end;
  }
  return restored;
}

}  // namespace tessera::search
