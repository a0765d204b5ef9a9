#include "tessera/encoder/export/s_expression.h"

#include <algorithm>

namespace tessera::encoder {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kEndsOfAtoms = " \t\r\n()|\";";

class Parser {
 public:
  Parser(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  base::Expected<std::vector<SExpression>> Parse();

 private:
  bool SkipBlanks();
  void Advance(size_t count);
  SExpression TakeAtom();
  bool TakeQuoted(SExpression& atom, char quote);
  base::Unexpected Refuse(int line, int column, std::string message) const;

  std::string_view text_;
  std::string_view file_;
  size_t position_ = 0;
  int line_ = 1;
  int column_ = 1;
};

void Parser::Advance(size_t count) {
  for (; count > 0; --count, ++position_) {
    ++column_;
    if (text_[position_] != '\n') continue;
    ++line_;
    column_ = 1;
  }
}

// False at the end of the text.
bool Parser::SkipBlanks() {
  while (position_ < text_.size()) {
    if (text_[position_] == ';') {
      Advance(std::min(text_.find('\n', position_), text_.size()) - position_);
    } else if (kBlanks.find(text_[position_]) != std::string_view::npos) {
      Advance(1);
    } else {
      return true;
    }
  }
  return false;
}

// A quote within "..." is written twice; the text of a string is kept as it stands.
bool Parser::TakeQuoted(SExpression& atom, char quote) {
  size_t end = text_.find(quote, position_ + 1);
  while (quote == '"' && end != std::string_view::npos && text_.substr(end + 1, 1) == "\"")
    end = text_.find(quote, end + 2);
  if (end == std::string_view::npos) return false;
  atom.text = text_.substr(position_ + 1, end - position_ - 1);
  Advance(end + 1 - position_);
  return true;
}

SExpression Parser::TakeAtom() {
  SExpression atom;
  atom.line = line_;
  atom.column = column_;
  const size_t end = std::min(text_.find_first_of(kEndsOfAtoms, position_), text_.size());
  atom.text = text_.substr(position_, end - position_);
  Advance(atom.text.size());
  return atom;
}

base::Unexpected Parser::Refuse(int line, int column, std::string message) const {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.file = file_;
  fault.line = line;
  fault.column = column;
  fault.excerpt = base::LineOf(text_, line);
  return base::Unexpected(std::move(fault));
}

base::Expected<std::vector<SExpression>> Parser::Parse() {
  std::vector<SExpression> open(1);  // lists that have begun; the first is the whole text
  while (SkipBlanks()) {
    const char next = text_[position_];
    if (next == '(') {
      if (open.size() > kDeepestList) return Refuse(line_, column_, "the lists are nested too deeply");
      SExpression& list = open.emplace_back();
      list.kind = SExpression::Kind::kList;
      list.line = line_;
      list.column = column_;
      Advance(1);
    } else if (next == ')') {
      if (open.size() == 1) return Refuse(line_, column_, "')' closes nothing");
      Advance(1);
      SExpression list = std::move(open.back());
      open.pop_back();
      open.back().items.push_back(std::move(list));
    } else if (next == '|' || next == '"') {
      SExpression atom;
      atom.kind = next == '|' ? SExpression::Kind::kSymbol : SExpression::Kind::kString;
      atom.line = line_;
      atom.column = column_;
      if (!TakeQuoted(atom, next)) return Refuse(line_, column_, std::string(1, next) + " is never closed");
      open.back().items.push_back(atom);
    } else {
      open.back().items.push_back(TakeAtom());
    }
  }
  if (open.size() > 1)
    return Refuse(open.back().line, open.back().column, "'(' is never closed: the output is truncated");
  return std::move(open.front().items);
}

}  // namespace

base::Expected<std::vector<SExpression>> ReadSExpressions(std::string_view text, std::string_view file) {
  return Parser(text, file).Parse();
}

}  // namespace tessera::encoder
