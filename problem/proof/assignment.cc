#include "tessera/problem/proof/assignment.h"

#include <algorithm>

#include "tessera/base/checked.h"

namespace tessera::problem::proof {
namespace {

using Kind = Literal::Kind;

constexpr size_t kMostTruths = size_t{1} << 28;
constexpr Bytes kFarthest = Bytes{1} << 61;  // any bound; sums with sizes and strides stay below 2^63

}  // namespace

Assignment::Assignment(const Facts& facts) : facts_(facts), horizon_(Horizon(facts.problem())) {
  const Problem& problem = facts.problem();
  count_ = problem.buffers.size() * problem.buffers.size();
  for (int i = 0; i < facts.Buffers(); ++i) {
    bounds_.insert(bounds_.end(), {facts.LowestOf(i), facts.HighestOf(i)});
    contradicts_ = contradicts_ || facts.LowestOf(i) > facts.HighestOf(i);
    first_touch_.push_back(count_);
    count_ += facts.MemoryOf(i).banks.size();
  }
  for (const Memory& memory : problem.memories) {
    first_mode_.push_back(count_);
    if (!memory.modes.empty()) {
      count_ += memory.modes.size() * static_cast<size_t>(horizon_.upper - horizon_.lower);
    }
  }
}

std::string Assignment::Understand(Literal& literal) const {
  if (literal.kind == Kind::kMode) return UnderstandMode(literal);
  const Problem& problem = facts_.problem();
  if (!IsIndex(literal.first, problem.buffers.size())) return "there is no such buffer";
  if (literal.kind == Kind::kOffset) return UnderstandOffset(literal);
  if (count_ > kMostTruths) return "the problem is too large for such literals";
  if (literal.kind == Kind::kTouch) {
    return IsIndex(literal.second, facts_.MemoryOf(literal.first).banks.size()) ? ""
                                                                                : "there is no such bank";
  }
  if (!IsIndex(literal.second, problem.buffers.size())) return "there is no such buffer";
  return facts_.LieApart(literal.first, literal.second) ? "" : "the two buffers need not lie apart";
}

std::string Assignment::UnderstandOffset(Literal& literal) const {
  if (literal.value > kFarthest || literal.value < -kFarthest) return "the offset is beyond 2^61";
  literal.value = base::RoundUp(literal.value, facts_.StrideOf(literal.first));
  return "";
}

std::string Assignment::UnderstandMode(const Literal& literal) const {
  const Problem& problem = facts_.problem();
  if (!IsIndex(literal.first, problem.memories.size())) return "there is no such memory";
  if (count_ > kMostTruths) return "the problem is too large for such literals";
  if (!IsIndex(literal.second, problem.memories[static_cast<size_t>(literal.first)].modes.size())) {
    return "there is no such mode";
  }
  if (literal.value < horizon_.lower || literal.value >= horizon_.upper) return "there is no such step";
  return "";
}

// Of a pair, of a buffer and a bank, or of a memory, a step and a mode.
size_t Assignment::IndexOf(const Literal& literal) const {
  const auto first = static_cast<size_t>(literal.first);
  const auto second = static_cast<size_t>(literal.second);
  if (literal.kind == Kind::kBelow) {
    return std::min(first, second) * facts_.problem().buffers.size() + std::max(first, second);
  }
  if (literal.kind == Kind::kTouch) return first_touch_[first] + second;
  const size_t modes = facts_.problem().memories[first].modes.size();
  return first_mode_[first] + static_cast<size_t>(literal.value - horizon_.lower) * modes + second;
}

bool Assignment::IsTrue(const Literal& literal) const {
  if (literal.kind == Kind::kOffset) {
    const size_t least = 2 * static_cast<size_t>(literal.first);
    return literal.negated ? bounds_[least + 1] < literal.value : bounds_[least] >= literal.value;
  }
  if (truths_.empty()) return false;
  const bool says_no = literal.kind == Kind::kBelow ? literal.first > literal.second : literal.negated;
  return truths_[IndexOf(literal)] == (says_no ? -1 : 1);
}

bool Assignment::Assert(const Literal& literal) {
  if (literal.kind == Kind::kOffset) {
    const size_t least = 2 * static_cast<size_t>(literal.first);
    const size_t changed = literal.negated ? least + 1 : least;
    trail_.push_back({true, changed, bounds_[changed]});
    bounds_[changed] = literal.negated ? literal.value - facts_.StrideOf(literal.first) : literal.value;
    return bounds_[least] <= bounds_[least + 1];
  }
  if (truths_.empty()) truths_.resize(count_);
  const bool says_no = literal.kind == Kind::kBelow ? literal.first > literal.second : literal.negated;
  const size_t index = IndexOf(literal);
  trail_.push_back({false, index, truths_[index]});
  truths_[index] = says_no ? -1 : 1;
  return true;
}

void Assignment::Undo() {
  for (; !trail_.empty(); trail_.pop_back()) {
    const Change& change = trail_.back();
    if (change.offset) {
      bounds_[change.index] = change.before;
    } else {
      truths_[change.index] = static_cast<int8_t>(change.before);
    }
  }
}

}  // namespace tessera::problem::proof
