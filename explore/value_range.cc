// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/value_range.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tessera/base/arithmetic.h"

namespace tessera::explore {

base::Expected<ValueRange> ValueRange::Find(const Space& space, const BaseProfile& base,
                                            const std::string& path) {
  const std::optional<double> stated = NumberAt(base.document, path);
  base::Diagnostic fault;
  fault.file = base.file;
  fault.message = "the profile '" + base.name + "' has no one whole number at '" + path + "'";
  fault.expected = "keys of the profile with dots between them, as memories.sram.capacity_bytes";
  if (!stated || std::floor(*stated) != *stated || *stated < 1) return base::Unexpected(fault);
  ValueRange range(base, path, static_cast<int64_t>(*stated));
  if (path.starts_with("memories.") && path.ends_with(".capacity_bytes")) {
    const std::string memory = path.substr(0, path.rfind('.'));
    const auto alignment = NumberAt(base.document, memory + ".alignment_bytes");
    const auto banks = NumberAt(base.document, memory + ".banks");
    range.step_ = static_cast<int64_t>(alignment.value_or(1) * banks.value_or(1));
  }
  for (const Axis& axis : space.Axes()) {
    if (axis.path != path) continue;
    std::vector<double> values;
    for (const Json& value : axis.values) {
      if (value.is_number()) values.push_back(value.get<double>());
    }
    if (values.empty()) continue;
    range.least_ = static_cast<int64_t>(*std::min_element(values.begin(), values.end()));
    range.most_ = static_cast<int64_t>(*std::max_element(values.begin(), values.end()));
  }
  range.least_ = std::min(std::max(range.step_, range.least_), range.most_);
  return range;
}

int64_t ValueRange::At(int64_t index) const { return std::min(least_ + index * step_, most_); }

int64_t ValueRange::Last() const { return base::CeilDiv(most_ - least_, step_); }

Json ValueRange::ProfileWith(int64_t index) const {
  Json profile = base_->document;
  SetEntries(profile, FindPlaces(profile, path_), At(index));
  return profile;
}

std::vector<int64_t> ValueRange::Between(size_t most) const {
  std::vector<std::pair<int64_t, int64_t>> gaps = {{0, Last()}};
  std::vector<int64_t> order;
  for (size_t i = 0; i < gaps.size() && order.size() < most; ++i) {
    const auto [low, high] = gaps[i];
    if (high - low < 2) continue;
    order.push_back(low + (high - low) / 2);
    gaps.emplace_back(low, order.back());
    gaps.emplace_back(order.back(), high);
  }
  return order;
}

}  // namespace tessera::explore
