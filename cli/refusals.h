#pragma once

#include <string>
#include <vector>

namespace tessera::cli {

// What stdout gets when an answer is refused: the violations as lines for people, or as a JSON document.
std::string DescribeRefusal(const std::vector<std::string>& violations, bool as_json);

}  // namespace tessera::cli
