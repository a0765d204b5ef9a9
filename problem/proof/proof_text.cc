// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/proof_text.h"

#include <algorithm>
#include <charconv>

namespace tessera::problem::proof {

namespace {

constexpr std::string_view kHeader = "tessera-proof 1";

// The words of one line, from left to right.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text), more_(true) {}

  bool More() const { return more_; }

  std::string_view Next() {
    const size_t space = rest_.find(' ');
    const std::string_view word = rest_.substr(0, space);
    more_ = space != std::string_view::npos;
    rest_.remove_prefix(more_ ? space + 1 : rest_.size());
    return word;
  }

 private:
  std::string_view rest_;
  bool more_;
};

// Reads a number at the front and removes it. Refuses "+1", "-0" and "01", so each number has one
// notation.
template <typename Integer>
bool TakeNumber(std::string_view& text, Integer& number) {
  const bool negative = !text.empty() && text.front() == '-';
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9') return false;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || (negative && number == 0)) return false;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return true;
}

bool Take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool ReadNumber(std::string_view text, int64_t& number) {
  return TakeNumber(text, number) && text.empty();
}

bool ReadLiteral(std::string_view text, ProofLiteral& literal) {
  literal = {};
  literal.negated = Take(text, "!");
  if (text.empty()) return false;
  const char kind = text.front();
  text.remove_prefix(1);
  if (!TakeNumber(text, literal.first)) return false;
  if (kind == 'x' && !literal.negated) {
    literal.kind = ProofLiteral::Kind::kOffset;
    literal.negated = Take(text, "<");
    if (!literal.negated && !Take(text, ">=")) return false;
    return TakeNumber(text, literal.value) && text.empty();
  }
  if (kind == 'm') {
    literal.kind = ProofLiteral::Kind::kMode;
    if (!Take(text, ",") || !TakeNumber(text, literal.value)) return false;
  } else if (kind == 't') {
    literal.kind = ProofLiteral::Kind::kTouch;
  } else if (kind == 'b' && !literal.negated) {
    literal.kind = ProofLiteral::Kind::kBelow;
  } else {
    return false;
  }
  return Take(text, ",") && TakeNumber(text, literal.second) && text.empty();
}

bool Refuse(Line& line, std::string flaw) {
  line.flaw = std::move(flaw);
  return false;
}

// The text after the colon.
bool ReadLiterals(Words& words, Line& line) {
  while (words.More()) {
    const std::string_view word = words.Next();
    if (!ReadLiteral(word, line.axiom.literals.emplace_back())) {
      return Refuse(line, "'" + std::string(word) + "' is no literal");
    }
  }
  return true;
}

bool ReadAxiom(std::string_view ground, Words& words, Line& line) {
  const auto found = std::find(kGroundNames.begin(), kGroundNames.end(), ground);
  if (found == kGroundNames.end())
    return Refuse(line, "'" + std::string(ground) + "' begins no line");
  line.axiom.ground = static_cast<Ground>(found - kGroundNames.begin());
  while (words.More()) {
    const std::string_view word = words.Next();
    if (word == ":") return ReadLiterals(words, line);
    if (!ReadNumber(word, line.axiom.subjects.emplace_back())) {
      return Refuse(line, "'" + std::string(word) + "' is no number");
    }
  }
  return Refuse(line, "a ':' is missing");
}

bool ReadNumberOf(Words& words, Line& line) {
  if (words.More() && ReadNumber(words.Next(), line.number)) return true;
  return Refuse(line, "the number of the clause is missing");
}

bool ReadClause(Words& words, Line& line) {
  if (!ReadNumberOf(words, line)) return false;
  if (!words.More() || words.Next() != ":") return Refuse(line, "a ':' is missing");
  return ReadLiterals(words, line);
}

bool ReadUse(Words& words, Line& line) {
  if (!words.More()) return Refuse(line, "nothing is used");
  while (words.More()) {
    if (!ReadNumber(words.Next(), line.used.emplace_back()))
      return Refuse(line, "no number of a clause");
  }
  return true;
}

void Append(std::string& text, int64_t number) {
  std::array<char, 24> digits;
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), number);
  text.append(digits.data(), end);
}

void Append(std::string& text, const ProofLiteral& literal) {
  const auto pair = [&](char kind, int64_t a, int64_t b) {
    if (literal.negated) text += '!';
    text += kind;
    Append(text, a);
    text += ',';
    Append(text, b);
  };
  switch (literal.kind) {
    case ProofLiteral::Kind::kOffset:
      text += 'x';
      Append(text, int64_t{literal.first});
      text += literal.negated ? "<" : ">=";
      return Append(text, literal.value);
    case ProofLiteral::Kind::kBelow:
      return pair('b', literal.first, literal.second);
    case ProofLiteral::Kind::kTouch:
      return pair('t', literal.first, literal.second);
    case ProofLiteral::Kind::kMode:
      pair('m', literal.first, literal.value);
      text += ',';
      return Append(text, int64_t{literal.second});
  }
}

void AppendLiterals(std::string& text, std::span<const ProofLiteral> literals) {
  text += " :";
  for (const ProofLiteral& literal : literals) {
    text += ' ';
    Append(text, literal);
  }
  text += '\n';
}

}  // namespace

bool ReadLine(std::string_view text, Line& line) {
  line.number = 0;
  line.axiom.subjects.clear();
  line.axiom.literals.clear();
  line.used.clear();
  line.flaw.clear();
  if (text == kHeader) return line.kind = Line::Kind::kHeader, true;
  if (text == "end") return line.kind = Line::Kind::kEnd, true;
  Words words(text);
  const std::string_view first = words.Next();
  if (first == "use") return line.kind = Line::Kind::kUse, ReadUse(words, line);
  if (first == "clause") return line.kind = Line::Kind::kClause, ReadClause(words, line);
  line.kind = first == "given" ? Line::Kind::kGiven : Line::Kind::kAxiom;
  if (first != "given") return ReadAxiom(first, words, line);
  if (!ReadNumberOf(words, line)) return false;
  return words.More() ? ReadAxiom(words.Next(), words, line)
                      : Refuse(line, "the ground is missing");
}

void WriteHeader(std::string& text) { text.append(kHeader) += '\n'; }

void WriteGiven(std::string& text, int64_t number, const Axiom& axiom) {
  text += "given ";
  Append(text, number);
  text += ' ';
  WriteAxiom(text, axiom);
}

void WriteAxiom(std::string& text, const Axiom& axiom) {
  text += kGroundNames[static_cast<size_t>(axiom.ground)];
  for (const int64_t subject : axiom.subjects) {
    text += ' ';
    Append(text, subject);
  }
  AppendLiterals(text, axiom.literals);
}

void WriteClause(std::string& text, int64_t number, std::span<const ProofLiteral> literals) {
  text += "clause ";
  Append(text, number);
  AppendLiterals(text, literals);
}

void WriteUse(std::string& text, std::span<const int64_t> numbers) {
  text += "use";
  for (const int64_t number : numbers) {
    text += ' ';
    Append(text, number);
  }
  text += '\n';
}

void WriteEnd(std::string& text) { text += "end\n"; }

std::string ToString(const ProofLiteral& literal) {
  std::string text;
  Append(text, literal);
  return text;
}

namespace {

constexpr uint64_t kMix = 0x9E3779B97F4A7C15U;

uint64_t Mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * kMix;
  return hash ^ (hash >> 29U);
}

uint64_t HashOf(Ground ground, std::span<const int64_t> subjects,
                std::span<const ProofLiteral> literals) {
  uint64_t hash = static_cast<uint64_t>(ground);
  for (const int64_t subject : subjects) hash = Mix(hash, static_cast<uint64_t>(subject));
  for (const ProofLiteral& literal : literals) {
    hash = Mix(hash, static_cast<uint64_t>(literal.kind) * 2 + (literal.negated ? 1 : 0));
    hash = Mix(hash, static_cast<uint64_t>(static_cast<uint32_t>(literal.first)) << 32U |
                         static_cast<uint32_t>(literal.second));
    hash = Mix(hash, static_cast<uint64_t>(literal.value));
  }
  return hash;
}

}  // namespace

// Numbers and writes the clauses and axioms on which the last clause depends.
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
  std::vector<bool> wanted_;                // by clause
  std::vector<int64_t> numbers_;
  int64_t last_ = 0;
  std::string text_;
};

bool Log::Is(const AxiomEntry& axiom, Ground ground, std::span<const int64_t> subjects,
             std::span<const ProofLiteral> literals) const {
  return axiom.ground == ground && std::ranges::equal(SubjectsOf(axiom), subjects) &&
         std::ranges::equal(LiteralsOf(axiom.literals), literals);
}

Log::Part Log::Store(std::span<const ProofLiteral> literals) {
  const size_t begin = literals_.size();
  literals_.insert(literals_.end(), literals.begin(), literals.end());
  return {begin, literals_.size()};
}

Log::Hint Log::AddAxiom(Ground ground, std::span<const int64_t> subjects,
                        std::span<const ProofLiteral> literals) {
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

Log::Hint Log::AddClause(std::span<const ProofLiteral> literals, std::span<const Hint> hints) {
  const size_t begin = hints_.size();
  hints_.insert(hints_.end(), hints.begin(), hints.end());
  clauses_.push_back({Store(literals), {begin, hints_.size()}});
  return {static_cast<int32_t>(clauses_.size()) - 1, false};
}

std::optional<std::string> Log::Write() const {
  if (clauses_.empty() || clauses_.back().literals.begin != clauses_.back().literals.end)
    return std::nullopt;
  return Writer(*this).Write();
}

}  // namespace tessera::problem::proof
