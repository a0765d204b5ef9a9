#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

// How numbers are written in YAML files of the project.
namespace tessera::base {

// 1048576, 1_048_576, 0x100000, 384Ki, 1Mi, 2Gi, 1Ti, each with an optional minus; nullopt for anything else
// and beyond 64 bits.
std::optional<int64_t> ParseInteger(std::string_view text);

// 0.04, 5e8, 500_000_000, 31; nullopt for anything else, infinities and what is not a number among them.
std::optional<double> ParseNumber(std::string_view text);

}  // namespace tessera::base
