// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/import/common/stored_sizes.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "tessera/base/text.h"

namespace tessera::graph::import::common {
namespace {

constexpr int64_t kMostBytes = int64_t{1} << 56;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct SizeFault {
  std::string message;
  std::string expected;
  std::string hint;
  size_t column = 0;
};

class SizeReader {
 public:
  explicit SizeReader(Graph& graph) {
    for (Tensor& tensor : graph.tensors) {
      if (tensor.constant) constants_.emplace(tensor.id, &tensor);
    }
  }

  std::optional<SizeFault> Take(std::string_view line) {
    const size_t comma = line.rfind(',');
    if (comma == std::string_view::npos)
      return SizeFault{"a line without a comma", "tensor,bytes", "", 0};
    const std::string name(base::Trimmed(line.substr(0, comma)));
    const std::string_view number = base::Trimmed(line.substr(comma + 1));
    const auto found = constants_.find(name);
    if (found == constants_.end()) {
      std::vector<std::string_view> names;
      for (const auto& [id, tensor] : constants_) names.push_back(id);
      return SizeFault{"there is no constant '" + name + "'", "a weight or table of the network",
                       base::DidYouMean(name, names), 0};
    }
    if (!taken_.insert(name).second)
      return SizeFault{"constant '" + name + "' comes twice", "each constant once", "", 0};
    int64_t bytes = 0;
    const auto [rest, error] = std::from_chars(number.data(), number.data() + number.size(), bytes);
    if (error != std::errc() || rest != number.data() + number.size() || bytes < 1 ||
        bytes > kMostBytes)
      return SizeFault{"bytes '" + std::string(number) + "'", "a whole number from 1 to 2^56", "",
                       comma + 1};
    found->second->stored_bytes = bytes;
    return std::nullopt;
  }

 private:
  std::map<std::string, Tensor*> constants_;
  std::set<std::string> taken_;
};

}  // namespace

base::Expected<void> ReadStoredSizes(std::string_view csv, const std::string& file_name,
                                     Graph& graph) {
  const std::string_view whole = csv;
  if (csv.starts_with(kByteOrderMark)) csv.remove_prefix(kByteOrderMark.size());
  SizeReader reader(graph);
  bool header = true;
  for (int line = 1; !csv.empty(); ++line) {
    const std::string_view text = csv.substr(0, csv.find('\n'));
    csv.remove_prefix(std::min(text.size() + 1, csv.size()));
    if (base::Trimmed(text).empty()) continue;
    std::optional<SizeFault> fault;
    if (header && base::Trimmed(text) != "tensor,bytes")
      fault = SizeFault{"another header", "tensor,bytes", "", 0};
    if (!header) fault = reader.Take(text);
    header = false;
    if (!fault) continue;
    base::Diagnostic diagnostic;
    diagnostic.file = file_name;
    diagnostic.line = line;
    diagnostic.column = static_cast<int>(fault->column) + 1;
    diagnostic.message = fault->message;
    diagnostic.expected = fault->expected;
    diagnostic.found = std::string(base::Trimmed(text));
    diagnostic.hint = fault->hint;
    diagnostic.excerpt = base::LineOf(whole, line);
    return base::Unexpected(std::move(diagnostic));
  }
  return {};
}

}  // namespace tessera::graph::import::common
