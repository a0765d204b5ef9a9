#include "tessera/encoder/export/header.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tessera/base/checked.h"
#include "tessera/base/json_reader.h"

namespace tessera::encoder {
namespace {

constexpr std::string_view kTitle = "tessera-formula ";
constexpr int64_t kVersion = 1;
constexpr std::array<std::string_view, 3> kIntegerWords = {"auto", "order", "bits"};

// FNV-1a over the Problem's own file form. It tells mistakes, not malice: what a model says is checked anyway.
std::string MarkOf(const problem::ProblemDocument& document) {
  const problem::Ladder* ladder = document.ladder ? &*document.ladder : nullptr;
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : problem::WriteProblem(document.problem, ladder))
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return fmt::format("{:016x}", hash);
}

base::Diagnostic NotAFormula(std::string_view file, std::string_view line) {
  base::Diagnostic fault;
  fault.file = file;
  fault.line = 1;
  fault.column = 1;
  fault.message = "this is no formula of `tessera encode`";
  fault.expected = fmt::format("a first line with '{}{{...}}'", kTitle);
  fault.found = line.empty() ? "nothing" : std::string(line.substr(0, 40));
  return fault;
}

}  // namespace

std::string WriteHeader(const problem::ProblemDocument& document, const FormulaOptions& options) {
  nlohmann::ordered_json json;
  json["version"] = kVersion;
  json["problem"] = MarkOf(document);
  json["capacity"] = options.capacity;
  if (options.rung) json["rung"] = document.ladder->rungs[*options.rung].name;
  json["integers"] = kIntegerWords[static_cast<size_t>(options.integers)];
  return std::string(kTitle) + json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
}

base::Expected<FormulaOptions> ReadOptions(std::string_view formula, std::string_view file,
                                           const problem::ProblemDocument& document) {
  const std::string_view line = formula.substr(0, formula.find('\n'));
  const size_t title = line.find(kTitle);
  if (title > 2) return tl::unexpected(NotAFormula(file, line));
  base::JsonReader reader(line.substr(title + kTitle.size()), std::string(file));
  FormulaOptions options;
  {
    base::JsonObject root = reader.Root().Object();
    root.Integer("version", {kVersion, kVersion});
    options.capacity = root.Integer("capacity", {0, base::kMaxTotal});
    options.integers = static_cast<IntegerEncoding>(root.OneOf("integers", kIntegerWords));
    const base::JsonValue mark = root.Required("problem");
    if (mark && mark.String() != MarkOf(document))
      mark.Refuse("this is the formula of another problem", "the mark of the given one, " + MarkOf(document));
    if (const base::JsonValue name = root.Optional("rung")) {
      const auto& rungs = document.ladder ? document.ladder->rungs : std::vector<problem::Rung>();
      const auto rung = std::find_if(rungs.begin(), rungs.end(),
                                     [&](const auto& known) { return known.name == name.String(); });
      if (rung == rungs.end()) name.Refuse("the problem has no such rung");
      options.rung = static_cast<size_t>(rung - rungs.begin());
    }
  }
  return reader.Finish(options);
}

}  // namespace tessera::encoder
