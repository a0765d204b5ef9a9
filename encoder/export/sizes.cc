#include "tessera/encoder/export/sizes.h"

#include <fmt/format.h>

#include "tessera/encoder/wording.h"

namespace tessera::encoder {

std::string TabulateSizes(const TopicCounts& variables, const TopicCounts& counts,
                          std::string_view conditions) {
  const auto row = [](std::string_view topic, const auto& first, const auto& second) {
    return fmt::format("{:<10}{:>12}{:>12}\n", topic, first, second);
  };
  std::string table = row("topic", "variables", conditions);
  int64_t all_variables = 0;
  int64_t all_counts = 0;
  for (size_t topic = 0; topic < kTopicCount; ++topic) {
    if (variables[topic] == 0 && counts[topic] == 0) continue;
    table += row(NameOf(static_cast<Topic>(topic)), variables[topic], counts[topic]);
    all_variables += variables[topic];
    all_counts += counts[topic];
  }
  return table + row("total", all_variables, all_counts);
}

}  // namespace tessera::encoder
