#include "tessera/encoder/bank_sums.h"

#include <algorithm>
#include <set>
#include <vector>

#include "tessera/encoder/weighted_sum.h"

// A placement in banks is bin packing first and an order of offsets second. Clauses about offsets see a full bank
// only pair by pair: that three buffers of two fifths of a bank do not fit into it takes them a search through all
// orders of the three, and again in every bank, and again for every choice of modes. So the sums are said outright,
// for each bank and each maximal set of buffers of span single that live together:
//
//     sum over i of size_i * touches(i, bank)  <=  width of the bank
//
// Sound: what touches a bank and lies inside one bank lies inside this one; the buffers of the set must be pairwise
// disjoint (a pair that may share addresses is not taken into one set), so their sizes add up. On a ladder the least
// size of each buffer counts, which holds on all rungs. Reserved bytes inside the bank are taken off its width.
//
// Beside it, each such buffer touches exactly one of its allowed banks. Clauses about offsets imply that too, but
// bits of an address do not show it to unit propagation.
//
// Cost: banks times maximal sets, each a diagram of at most kMostNodes nodes.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Step;

constexpr size_t kMostNodes = 2000;

Bytes LeastSizeOf(const Question& question, size_t buffer) {
  if (question.ladder == nullptr) return question.BufferAt(buffer).size;
  Bytes least = question.ladder->rungs.front().sizes[buffer];
  for (const problem::Rung& rung : question.ladder->rungs) least = std::min(least, rung.sizes[buffer]);
  return least;
}

std::vector<size_t> SingleBuffersOf(const Question& question, size_t memory) {
  std::vector<size_t> buffers;
  for (size_t i = 0; i < question.problem.buffers.size(); ++i) {
    const problem::Buffer& buffer = question.BufferAt(i);
    if (static_cast<size_t>(buffer.memory) == memory && buffer.span == problem::Span::kSingle)
      buffers.push_back(i);
  }
  return buffers;
}

bool MayLieIn(const problem::Buffer& buffer, size_t bank) {
  return buffer.allowed_banks.empty() ||
         std::binary_search(buffer.allowed_banks.begin(), buffer.allowed_banks.end(), static_cast<int>(bank));
}

// Those that live at a step at which some buffer is born and are pairwise disjoint, taken in order; only sets that
// no other contains.
std::vector<std::vector<size_t>> MaximalSets(const Question& question, const std::vector<size_t>& buffers) {
  const std::set<std::pair<int, int>> disjoint(question.demands.disjoint.begin(),
                                               question.demands.disjoint.end());
  std::set<Step> births;
  for (const size_t i : buffers) {
    for (const problem::Lifespan& life : question.BufferAt(i).lifespans) births.insert(life.lower);
  }
  std::vector<std::vector<size_t>> sets;
  for (const Step step : births) {
    std::vector<size_t> set;
    for (const size_t i : buffers) {
      const bool apart = std::all_of(set.begin(), set.end(), [&](size_t other) {
        return disjoint.contains({static_cast<int>(other), static_cast<int>(i)});
      });
      if (apart && LivesAt(question.BufferAt(i), step)) set.push_back(i);
    }
    sets.push_back(std::move(set));
  }
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  std::vector<std::vector<size_t>> maximal;
  for (const std::vector<size_t>& set : sets) {
    const bool contained = std::any_of(sets.begin(), sets.end(), [&set](const std::vector<size_t>& other) {
      return other.size() > set.size() && std::includes(other.begin(), other.end(), set.begin(), set.end());
    });
    if (!contained && set.size() > 1) maximal.push_back(set);
  }
  return maximal;
}

Bytes WidthOf(const problem::Memory& memory, const problem::AddressRange& bank, Bytes ceiling) {
  Bytes width = std::max<Bytes>(0, std::min(bank.end, ceiling) - bank.begin);
  Bytes covered = bank.begin;
  std::vector<problem::Reserved> reserved = memory.reserved;
  std::sort(reserved.begin(), reserved.end(),
            [](const auto& a, const auto& b) { return a.range.begin < b.range.begin; });
  for (const problem::Reserved& each : reserved) {
    const Bytes begin = std::max(each.range.begin, covered);
    const Bytes end = std::min({each.range.end, bank.end, ceiling});
    if (begin >= end) continue;
    width -= end - begin;
    covered = end;
  }
  return width;
}

}  // namespace

void WriteBankSums(const Question& question, Addresses& addresses, ClauseSink& clauses) {
  for (size_t m = 0; m < question.problem.memories.size(); ++m) {
    const problem::Memory& memory = question.problem.memories[m];
    if (memory.banks.size() < 2) continue;
    const std::vector<size_t> buffers = SingleBuffersOf(question, m);
    for (const size_t i : buffers) {
      std::vector<Literal> touches;
      for (size_t bank = 0; bank < memory.banks.size(); ++bank) {
        if (MayLieIn(question.BufferAt(i), bank)) touches.push_back(addresses.Touches(i, bank));
      }
      clauses.Enter(Topic::kBanks);
      clauses.Add(touches);
      for (size_t a = 0; a < touches.size(); ++a) {
        for (size_t b = a + 1; b < touches.size(); ++b) clauses.Add({~touches[a], ~touches[b]});
      }
    }
    for (const std::vector<size_t>& set : MaximalSets(question, buffers)) {
      for (size_t bank = 0; bank < memory.banks.size() && !clauses.Full(); ++bank) {
        std::vector<Weighted> terms;
        for (const size_t i : set) {
          if (!MayLieIn(question.BufferAt(i), bank)) continue;
          terms.push_back({addresses.Touches(i, bank), LeastSizeOf(question, i) / question.GranuleOf(i)});
        }
        clauses.Enter(Topic::kBanks);
        const Bytes width = WidthOf(memory, memory.banks[bank].range, question.CapacityOf(m));
        AddSumAtMost(clauses, terms, width / question.demands.granules[m], kMostNodes);
      }
    }
  }
}

}  // namespace tessera::encoder
