#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/suggest.h"
#include "tessera/problem/problem.h"

// How the JSON formats refer to things stated elsewhere in the document. Internal to the readers.
namespace tessera::problem {

inline constexpr base::IntegerRange kSizes = {1, base::kMaxTotal};
inline constexpr base::IntegerRange kAddresses = {0, base::kMaxTotal};
inline constexpr base::IntegerRange kSteps = {-base::kMaxTotal, base::kMaxTotal};

template <typename T>
std::vector<std::string_view> NamesOf(const std::vector<T>& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  return names;
}

// The index of the item that `value` names, or states as an index.
template <typename T>
int ReadReference(const base::JsonValue& value, const std::vector<T>& items, std::string_view what) {
  if (value.IsInteger()) {
    if (items.empty()) value.Refuse(fmt::format("there is no {} to refer to", what));
    return static_cast<int>(value.Integer({0, static_cast<int64_t>(items.size()) - 1}));
  }
  const std::string name = value.String();
  const std::vector<std::string_view> names = NamesOf(items);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    value.Refuse(fmt::format("there is no {} '{}'", what, name), "one of " + base::Join(names),
                 base::DidYouMean(name, names));
    return 0;
  }
  if (std::find(found + 1, names.end(), name) != names.end()) {
    value.Refuse(fmt::format("two are named '{}'", name), fmt::format("the index of the {}", what));
  }
  return static_cast<int>(found - names.begin());
}

AddressRange ReadRange(const base::JsonValue& value);

// Buffers by id. Of buffers with one id the first counts; FindFault refuses the others.
class BufferIndex {
 public:
  explicit BufferIndex(const std::vector<Buffer>& buffers);

  // The index of the buffer `id`; refuses `where` when there is none.
  std::optional<size_t> Find(const std::string& id, const base::JsonValue& where) const;

  // The index of the buffer whose id stands there; 0 after refusing it.
  int Read(const base::JsonValue& id) const;

  // Reads {"id": number, ...} with exactly one number for each buffer.
  std::vector<Bytes> ReadAll(const base::JsonValue& value, base::IntegerRange range,
                             const std::vector<Buffer>& buffers) const;

 private:
  std::map<std::string, size_t> by_id_;
};

}  // namespace tessera::problem
