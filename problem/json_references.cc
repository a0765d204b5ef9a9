#include "tessera/problem/json_references.h"

namespace tessera::problem {

using base::JsonObject;
using base::JsonValue;

AddressRange ReadRange(const JsonValue& value) {
  const std::vector<JsonValue> ends = value.Items(2);
  return {ends[0].Integer(kAddresses), ends[1].Integer(kAddresses)};
}

BufferIndex::BufferIndex(const std::vector<Buffer>& buffers) {
  for (size_t i = 0; i < buffers.size(); ++i) by_id_.emplace(buffers[i].id, i);
}

std::optional<size_t> BufferIndex::Find(const std::string& id, const JsonValue& where) const {
  if (const auto found = by_id_.find(id); found != by_id_.end()) return found->second;
  std::vector<std::string_view> ids;
  for (const auto& [known, index] : by_id_) ids.push_back(known);
  where.Refuse(fmt::format("there is no buffer '{}'", id), "the id of a buffer", base::DidYouMean(id, ids));
  return std::nullopt;
}

int BufferIndex::Read(const JsonValue& id) const {
  return static_cast<int>(Find(id.String(), id).value_or(0));
}

std::vector<Bytes> BufferIndex::ReadAll(const JsonValue& value, base::IntegerRange range,
                                        const std::vector<Buffer>& buffers) const {
  std::vector<Bytes> numbers(buffers.size(), 0);
  std::vector<bool> present(buffers.size(), false);
  JsonObject object = value.Object();
  for (const auto& [id, number] : object.Members()) {
    const std::optional<size_t> index = Find(id, number);
    if (!index) return numbers;
    numbers[*index] = number.Integer(range);
    present[*index] = true;
  }
  const auto missing = std::find(present.begin(), present.end(), false);
  if (missing != present.end()) {
    const Buffer& buffer = buffers[static_cast<size_t>(missing - present.begin())];
    value.Refuse(fmt::format("buffer '{}' is missing", buffer.id), "an entry for each buffer");
  }
  return numbers;
}

}  // namespace tessera::problem
