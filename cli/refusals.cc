#include "tessera/cli/refusals.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "tessera/base/json_writer.h"
#include "tessera/base/utf8.h"

namespace tessera::cli {

std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json) {
  if (as_json) {
    nlohmann::ordered_json document;
    document["status"] = "refused";
    document["violations"] = violations;
    return base::WriteJson(document);
  }
  std::string text =
      fmt::format("refused: {} violation{}\n", violations.size(), violations.size() == 1 ? "" : "s");
  for (const std::string& violation : violations) text += "  " + base::Printable(violation) + '\n';
  return text;
}

}  // namespace tessera::cli
