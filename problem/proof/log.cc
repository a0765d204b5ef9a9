#include "tessera/problem/proof/log.h"

#include <algorithm>

namespace tessera::problem::proof {
namespace {

constexpr uint64_t kMix = 0x9E3779B97F4A7C15U;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kMix;
  return hash ^ (hash >> 29U);
}

uint64_t HashOf(Ground ground, std::span<const int64_t> subjects, std::span<const Literal> literals) {
  uint64_t hash = static_cast<uint64_t>(ground);
  for (const int64_t subject : subjects) hash = Mix(hash, static_cast<uint64_t>(subject));
  for (const Literal& literal : literals) {
    hash = Mix(hash, static_cast<uint64_t>(literal.kind) * 2 + (literal.negated ? 1 : 0));
    hash = Mix(hash, static_cast<uint64_t>(static_cast<uint32_t>(literal.first)) << 32U |
                         static_cast<uint32_t>(literal.second));
    hash = Mix(hash, static_cast<uint64_t>(literal.value));
  }
  return hash;
}

}  // namespace

// Numbers and writes what the last clause rests on.
class Log::Writer {
 public:
  explicit Writer(const Log& log)
      : log_(log),
        uses_(log.axioms_.size()),
        numbers_of_axioms_(uses_.size()),
        wanted_(log.clauses_.size()),
        numbers_(wanted_.size()) {}

  std::string Write() {
    Mark();
    WriteHeader(text_);
    for (size_t k = 0; k < wanted_.size(); ++k) {
      if (wanted_[k]) WriteStep(k);
    }
    WriteEnd(text_);
    return std::move(text_);
  }

 private:
  void Mark() {
    for (size_t k = wanted_.size(); k-- > 0;) {
      const ClauseEntry& clause = log_.clauses_[k];
      const bool holds_unused = clause.literals.end - clause.literals.begin <= 1;
      if (!wanted_[k] && !holds_unused) continue;
      wanted_[k] = true;
      for (const Hint hint : log_.HintsOf(clause)) {
        const auto index = static_cast<size_t>(hint.index);
        hint.axiom ? static_cast<void>(++uses_[index]) : static_cast<void>(wanted_[index] = true);
      }
    }
  }

  Axiom AxiomAt(size_t index) const {
    const AxiomEntry& entry = log_.axioms_[index];
    const auto subjects = log_.SubjectsOf(entry);
    const auto literals = log_.LiteralsOf(entry.literals);
    return {entry.ground, {subjects.begin(), subjects.end()}, {literals.begin(), literals.end()}};
  }

  void WriteStep(size_t k) {
    const ClauseEntry& clause = log_.clauses_[k];
    // An axiom that is used twice gets a number.
    for (const Hint hint : log_.HintsOf(clause)) {
      const auto index = static_cast<size_t>(hint.index);
      if (!hint.axiom || uses_[index] < 2 || numbers_of_axioms_[index] != 0) continue;
      WriteGiven(text_, numbers_of_axioms_[index] = ++last_, AxiomAt(index));
    }
    WriteClause(text_, numbers_[k] = ++last_, log_.LiteralsOf(clause.literals));
    std::vector<int64_t> used;
    const auto write_used = [&] {
      if (!used.empty()) WriteUse(text_, used);
      used.clear();
    };
    for (const Hint hint : log_.HintsOf(clause)) {
      const auto index = static_cast<size_t>(hint.index);
      const int64_t number = hint.axiom ? numbers_of_axioms_[index] : numbers_[index];
      if (number != 0) {
        used.push_back(number);
      } else {
        write_used();
        WriteAxiom(text_, AxiomAt(index));
      }
    }
    write_used();
  }

  const Log& log_;
  std::vector<int32_t> uses_;               // of each axiom
  std::vector<int64_t> numbers_of_axioms_;  // 0: none
  std::vector<bool> wanted_;                // clauses
  std::vector<int64_t> numbers_;
  int64_t last_ = 0;
  std::string text_;
};

bool Log::Is(const AxiomEntry& axiom, Ground ground, std::span<const int64_t> subjects,
             std::span<const Literal> literals) const {
  return axiom.ground == ground && std::ranges::equal(SubjectsOf(axiom), subjects) &&
         std::ranges::equal(LiteralsOf(axiom.literals), literals);
}

Log::Part Log::Store(std::span<const Literal> literals) {
  const size_t begin = literals_.size();
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  return {begin, literals_.size()};
}

Log::Hint Log::AddAxiom(Ground ground, std::span<const int64_t> subjects, std::span<const Literal> literals) {
  const uint64_t hash = HashOf(ground, subjects, literals);
  const auto [first, last] = axiom_by_hash_.equal_range(hash);
  for (auto known = first; known != last; ++known) {
    if (Is(axioms_[static_cast<size_t>(known->second)], ground, subjects, literals))
      return {known->second, true};
  }
  const auto index = static_cast<int32_t>(axioms_.size());
  const size_t begin = subjects_.size();
  subjects_.insert(subjects_.end(), subjects.begin(), subjects.end());
  axioms_.push_back({ground, {begin, subjects_.size()}, Store(literals)});
  axiom_by_hash_.emplace(hash, index);
  return {index, true};
}

Log::Hint Log::AddClause(std::span<const Literal> literals, std::span<const Hint> hints) {
  const size_t begin = hints_.size();
  hints_.insert(hints_.end(), hints.begin(), hints.end());
  clauses_.push_back({Store(literals), {begin, hints_.size()}});
  return {static_cast<int32_t>(clauses_.size()) - 1, false};
}

std::optional<std::string> Log::Write() const {
  if (clauses_.empty() || clauses_.back().literals.begin != clauses_.back().literals.end) return std::nullopt;
  return Writer(*this).Write();
}

}  // namespace tessera::problem::proof
