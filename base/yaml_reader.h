// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"

// YAML with positions. Every complaint names the file, line and column, what was expected and what
// was found. For keys and names it also suggests the nearest accepted one. yaml-cpp does the
// parsing and is used only here.
//
//     base::YamlFile file = *base::YamlFile::Parse(text, "npu.yaml");
//     base::YamlReader reader(file);               // collects the first complaint
//     base::YamlNode root = reader.Root();
//     root.OnlyKeys({"schema", "memories"});       // refuses other keys; "x-..." is allowed
//     int64_t schema = root.At("schema").Integer(1, 1);
//     for (base::YamlNode memory : root.At("memories").Items()) { ... }
//     if (reader.Failed()) return tl::unexpected(reader.TakeFault());
//
// After the first complaint every getter returns a neutral value and nothing more is recorded. Code
// that uses the reader therefore needs no branches.
//
// Several files can be read as one document of layers. Maps merge key by key. Any other value is
// taken as a whole from the uppermost file that has it. Every value keeps its position in its own
// file.
namespace tessera::base {

class YamlReader;
struct YamlDocument;
struct YamlPosition;
struct YamlValue;

class YamlFile {
 public:
  // Refuses syntax errors, repeated keys, keys that are not text, merge keys, tags, control
  // characters, lists and maps nested deeper than 100, aliases that expand to more than 1,000,000
  // values, and more than one document.
  static Expected<YamlFile> Parse(std::string text, std::string file_name);
  YamlFile(YamlFile&&) noexcept;
  YamlFile& operator=(YamlFile&&) noexcept;
  YamlFile(const YamlFile&) = delete;
  YamlFile& operator=(const YamlFile&) = delete;
  ~YamlFile();

 private:
  friend class YamlReader;
  explicit YamlFile(std::unique_ptr<const YamlDocument> document);
  std::unique_ptr<const YamlDocument> document_;
};

// One value of the document, or the place where an optional value is missing. Cheap to copy; valid
// as long as its reader.
class YamlNode {
 public:
  YamlNode() = default;  // absent

  bool Present() const;
  explicit operator bool() const { return Present(); }
  bool IsMap() const;
  bool IsList() const;
  bool IsScalar() const;

  // Complains about keys of this map that are not listed, and about a value that is not a map.
  void OnlyKeys(std::span<const std::string_view> keys) const;
  void OnlyKeys(std::initializer_list<std::string_view> keys) const;

  // Complains when missing, and states what the getter that reads it expects.
  YamlNode At(std::string_view key) const;
  YamlNode Maybe(std::string_view key) const;  // absent when missing

  std::vector<YamlNode> Items() const;  // of a list; complains about other values
  // Of a map, without the user keys "x-...", in the order of the file (for merged files: of the
  // lowest file first). Complains about other values.
  std::vector<std::pair<std::string, YamlNode>> Entries() const;
  // The "x-..." keys of a map with their scalar text, or the YAML of their value on one line.
  std::vector<std::pair<std::string, std::string>> UserKeys() const;

  // Integers may be written as 1048576, 1_048_576, 0x100000, or with a binary suffix: 384Ki, 1Mi,
  // 2Gi, 1Ti.
  int64_t Integer(int64_t least, int64_t most) const;
  double Number(double least, double most) const;  // finite
  bool Boolean() const;                            // true or false, as in YAML 1.2
  std::string Text() const;                        // non-empty scalar
  std::vector<int64_t> Integers(int64_t least, int64_t most) const;
  // The index of the scalar, or of this value's own key, among `names`. The complaint suggests the
  // nearest name.
  size_t OneOf(std::span<const std::string_view> names) const;
  size_t KeyOneOf(std::span<const std::string_view> names) const;

  // Complains about this value, or about its key, with the caller's message. If the value is
  // absent, the complaint has the position of the map that lacks it.
  void Complain(std::string message, std::string expected = "", std::string hint = "") const;
  void ComplainOfKey(std::string message, std::string expected = "", std::string hint = "") const;

  // Returns a complaint about this value without recording it, for faults found after the file was
  // read.
  Diagnostic Located(std::string message, std::string expected = "", std::string hint = "") const;

 private:
  friend class YamlReader;
  struct Place;
  YamlNode(YamlReader* reader, std::shared_ptr<const Place> place);
  const YamlValue* Value() const;
  std::optional<std::string> Scalar(std::string_view expected, bool plain) const;
  YamlNode Child(std::string_view key) const;
  bool IsIgnored(std::string_view expected) const;
  void ComplainAt(const YamlDocument* document, YamlPosition position, Diagnostic fault) const;
  void ComplainOfValue(std::string message, std::string expected, std::string hint) const;

  YamlReader* reader_ = nullptr;
  std::shared_ptr<const Place> place_;
};

// Reads one or several files. The files must outlive the reader. Nodes are valid as long as the
// reader.
class YamlReader {
 public:
  explicit YamlReader(const YamlFile& file);
  explicit YamlReader(std::span<const YamlFile> files);  // the uppermost first; at least one
  YamlNode Root();
  bool Failed() const { return fault_.has_value(); }
  Diagnostic TakeFault() { return std::move(*fault_); }  // only if Failed()

 private:
  friend class YamlNode;
  std::vector<const YamlDocument*> documents_;
  std::optional<Diagnostic> fault_;
  std::shared_ptr<const YamlNode::Place> missing_;  // the value that the fault lacks
};

}  // namespace tessera::base
