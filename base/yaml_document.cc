// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/yaml_document.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <exception>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>

#include "tessera/base/text.h"

// The tree is built from the events of yaml-cpp and not from its nodes. Events distinguish quoted
// from plain scalars, report repeated keys, and give the position of keys. They also let the
// builder refuse depth and aliases before any function recurses over them.
//
//     text --(yaml-cpp scanner, parser)--> events --(DocumentBuilder)--> linked values in a deque
//
// An alias is a second pointer to one value, so a bomb of nested aliases costs no memory here. Its
// cost for a reader that walks the tree is counted while the tree is built (`nodes`), and it is
// bounded.
namespace tessera::base {

namespace {

// Carries a complaint out of yaml-cpp's parser. ParseYaml catches it.
struct Fault : std::exception {
  explicit Fault(Diagnostic diagnostic) : diagnostic(std::move(diagnostic)) {}
  Diagnostic diagnostic;
};

YamlPosition At(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

[[noreturn]] void Refuse(YamlPosition position, std::string message, std::string expected,
                         std::string hint) {
  Diagnostic fault;
  fault.message = std::move(message);
  fault.line = position.line;
  fault.column = position.column;
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  throw Fault(std::move(fault));
}

class DocumentBuilder final : public YAML::EventHandler {
 public:
  explicit DocumentBuilder(YamlDocument& document) : document_(document) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (document_.root != nullptr) {
      Refuse(At(mark), "a second document begins here", "one document to a file",
             "put each document into a file of its own");
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    Append(*NewValue(YamlKind::kNull, mark, "", anchor));
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlValue* value = NewValue(YamlKind::kScalar, mark, tag, anchor);
    // YAML is UTF-8, but the parser accepts other bytes.
    value->text = AsUtf8(text);
    value->quoted = tag == "!";
    Append(*value);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const YamlValue* value = anchors_.at(anchor);
    const auto encloses = [&](const Open& open) { return open.value == value; };
    if (std::any_of(open_.begin(), open_.end(), encloses)) {
      Refuse(At(mark), "the alias stands inside the value that it names", "a tree",
             "remove the alias");
    }
    alias_nodes_ += value->nodes;
    if (alias_nodes_ > kMaxYamlAliasNodes) {
      Refuse(At(mark), "the aliases up to here stand for too many values",
             "at most " + std::to_string(kMaxYamlAliasNodes) + " values by way of aliases",
             "write fewer nested aliases");
    }
    Append(*value);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    Descend(NewValue(YamlKind::kList, mark, tag, anchor));
  }
  void OnSequenceEnd() override { Ascend(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    Descend(NewValue(YamlKind::kMap, mark, tag, anchor));
  }
  void OnMapEnd() override {
    IndexKeys(*open_.back().value);
    Ascend();
  }

 private:
  // A list or map whose end has not been read; for a map also the key that waits for its value.
  struct Open {
    YamlValue* value = nullptr;
    std::optional<YamlEntry> key;
  };

  YamlValue* NewValue(YamlKind kind, const YAML::Mark& mark, const std::string& tag,
                      YAML::anchor_t anchor) {
    if (!tag.empty() && tag != "?" && tag != "!") {
      Refuse(At(mark), "a tag stands before this value", "a value without a tag",
             "remove '" + tag + "'");
    }
    YamlValue* value = &document_.values.emplace_back();
    value->kind = kind;
    value->position = At(mark);
    if (anchor != YAML::NullAnchor) anchors_[anchor] = value;
    return value;
  }

  void Descend(YamlValue* value) {
    if (open_.size() >= kMaxYamlDepth) {
      Refuse(value->position, "values are nested too deeply",
             "at most " + std::to_string(kMaxYamlDepth) + " levels of lists and maps", "");
    }
    open_.push_back({value, std::nullopt});
  }

  void Ascend() {
    const YamlValue* value = open_.back().value;
    open_.pop_back();
    Append(*value);
  }

  void Append(const YamlValue& value) {
    if (open_.empty()) {
      document_.root = &value;
      return;
    }
    Open& open = open_.back();
    if (open.value->kind == YamlKind::kMap && !open.key) {
      open.key = KeyOf(value);
      return;
    }
    open.value->nodes += value.nodes;
    if (open.value->kind == YamlKind::kList) {
      open.value->items.push_back(&value);
      return;
    }
    open.key->value = &value;
    open.value->entries.push_back(std::move(*open.key));
    open.key.reset();
  }

  static YamlEntry KeyOf(const YamlValue& value) {
    if (value.kind != YamlKind::kScalar) {
      Refuse(value.position, "this key is no text", "a name before the colon", "");
    }
    if (value.text == "<<" && !value.quoted) {
      Refuse(value.position, "merge keys are not understood", "keys written out",
             "write the merged keys out in this map");
    }
    return {value.text, value.position, nullptr};
  }

  // Sorts the index of a map and refuses repeated keys.
  static void IndexKeys(YamlValue& map) {
    const auto& entries = map.entries;
    map.by_key.resize(entries.size());
    std::iota(map.by_key.begin(), map.by_key.end(), 0U);
    std::stable_sort(map.by_key.begin(), map.by_key.end(),
                     [&](uint32_t a, uint32_t b) { return entries[a].key < entries[b].key; });
    const auto repeated = std::adjacent_find(
        map.by_key.begin(), map.by_key.end(),
        [&](uint32_t a, uint32_t b) { return entries[a].key == entries[b].key; });
    if (repeated == map.by_key.end()) return;
    const YamlEntry& first = entries[*repeated];
    Refuse(entries[*(repeated + 1)].position, "repeated key '" + first.key + "'", "each key once",
           "it stands on line " + std::to_string(first.position.line) + " already");
  }

  YamlDocument& document_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, const YamlValue*> anchors_;
  int64_t alias_nodes_ = 0;
};

// yaml-cpp treats byte 4 as the end of the input and zero bytes as UTF-16. Both would silently drop
// the rest of the text.
std::optional<Diagnostic> FindControlCharacter(const YamlDocument& document) {
  YamlPosition position{1, 1};
  for (const char c : document.text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 && c != '\n' && c != '\r' && c != '\t') {
      Diagnostic fault;
      fault.message = "a control character stands here";
      fault.line = position.line;
      fault.column = position.column;
      fault.expected = "text in UTF-8";
      fault.found = "byte " + std::to_string(byte);
      return fault;
    }
    position = c == '\n' ? YamlPosition{position.line + 1, 1}
                         : YamlPosition{position.line, position.column + 1};
  }
  return std::nullopt;
}

Diagnostic SyntaxFault(const YAML::Exception& error, std::string_view text) {
  Diagnostic fault;
  fault.message = "this is not YAML: " + error.msg;
  if (!error.mark.is_null()) {
    fault.line = error.mark.line + 1;
    fault.column = error.mark.column + 1;
    const std::string line = LineOf(text, fault.line);
    const size_t text_begin = line.find_first_not_of(" \t");
    if (line.substr(0, text_begin).find('\t') != std::string::npos)
      fault.hint = "indent with spaces: YAML allows no tabs there";
  }
  return fault;
}

std::optional<Diagnostic> Build(YamlDocument& document) {
  try {
    std::istringstream stream(document.text);
    YAML::Parser parser(stream);
    DocumentBuilder builder(document);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Fault& fault) {
    return fault.diagnostic;
  } catch (const YAML::Exception& error) {
    return SyntaxFault(error, document.text);
  }
  if (document.root != nullptr) return std::nullopt;
  Diagnostic fault;
  fault.message = "the file is empty";
  fault.line = 1;
  fault.column = 1;
  fault.expected = "a YAML document";
  return fault;
}

}  // namespace

std::optional<Diagnostic> ParseYaml(YamlDocument& document) {
  std::optional<Diagnostic> fault = FindControlCharacter(document);
  if (!fault) fault = Build(document);
  if (fault) {
    fault->file = document.file_name;
    fault->excerpt = LineOf(document.text, fault->line);
  }
  return fault;
}

const YamlEntry* FindEntry(const YamlValue& map, std::string_view key) {
  const auto found = std::lower_bound(
      map.by_key.begin(), map.by_key.end(), key,
      [&](uint32_t at, std::string_view wanted) { return map.entries[at].key < wanted; });
  if (found == map.by_key.end() || map.entries[*found].key != key) return nullptr;
  return &map.entries[*found];
}

std::string FlowText(const YamlValue& value) {
  const auto quote = [](const std::string& text) {
    YAML::Emitter emitter;
    emitter << YAML::DoubleQuoted << text;
    return std::string(emitter.c_str());
  };
  std::string text;
  switch (value.kind) {
    case YamlKind::kNull:
      return "null";
    case YamlKind::kScalar:
      return value.quoted ? quote(value.text) : value.text;
    case YamlKind::kList:
      for (const YamlValue* item : value.items)
        text += (text.empty() ? "" : ", ") + FlowText(*item);
      return "[" + text + "]";
    case YamlKind::kMap:
      for (const YamlEntry& entry : value.entries) {
        text += (text.empty() ? "" : ", ") + quote(entry.key) + ": " + FlowText(*entry.value);
      }
      return "{" + text + "}";
  }
  return text;
}

namespace {

// The text without underscores. An underscore is allowed only between two digits.
std::optional<std::string> DropUnderscores(std::string_view text) {
  const auto digit = [&](size_t at) {
    return at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at])) != 0;
  };
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      plain += text[i];
    } else if (i == 0 || !digit(i - 1) || !digit(i + 1)) {
      return std::nullopt;
    }
  }
  return plain;
}

// Removes a binary suffix from the end and returns its factor.
int64_t TakeSuffix(std::string_view& text) {
  constexpr std::array<std::pair<std::string_view, int>, 4> kSuffixes = {
      {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}}};
  for (const auto& [suffix, bits] : kSuffixes) {
    if (text.size() <= suffix.size() || text.substr(text.size() - suffix.size()) != suffix)
      continue;
    text.remove_suffix(suffix.size());
    return int64_t{1} << bits;
  }
  return 1;
}

}  // namespace

std::optional<int64_t> ParseInteger(std::string_view text) {
  const std::optional<std::string> plain = DropUnderscores(text);
  if (!plain) return std::nullopt;
  std::string_view digits = *plain;
  const bool negative = !digits.empty() && digits.front() == '-';
  if (negative) digits.remove_prefix(1);
  const int64_t factor = TakeSuffix(digits);
  const bool hexadecimal = digits.size() > 2 && digits.substr(0, 2) == "0x";
  if (hexadecimal) digits.remove_prefix(2);
  if (digits.empty() || digits.front() == '-') return std::nullopt;

  int64_t value = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (__builtin_mul_overflow(value, negative ? -factor : factor, &value)) return std::nullopt;
  return value;
}

std::optional<double> ParseNumber(std::string_view text) {
  const std::optional<std::string> plain = DropUnderscores(text);
  if (!plain) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(plain->data(), plain->data() + plain->size(), value);
  if (error != std::errc() || end != plain->data() + plain->size() || !std::isfinite(value))
    return std::nullopt;
  return value;
}

}  // namespace tessera::base
