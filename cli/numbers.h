#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

// Numbers on the command line. All are decimal, whatever zeros they begin with; whole ones may be
// hexadecimal behind 0x.
namespace tessera::cli {

// For CLI::Option::transform: a whole number from `least` to `most`, "012" for 12.
CLI::Validator WholeNumber(int64_t least, int64_t most);

// The same in bytes from 0 to base::kMaxTotal, perhaps with a unit: b, k, m, g, t, p or e in either
// case, also as kb, ki and kib. All units are powers of 1024: 384Ki, 1MiB.
CLI::Validator ByteCount();

// Seconds from 0 up.
CLI::Validator Seconds();

// A finite decimal number, all of the word: "0.5", "2e9".
std::optional<double> ParseDecimal(std::string_view word);

}  // namespace tessera::cli
