#pragma once

#include <string_view>

// The files under page/, put into the program when it is built.
namespace tessera::cli::report {

std::string_view PageTemplate();  // HTML with marks {{title}}, {{style}}, {{data}} and {{script}}
std::string_view StyleSheet();
std::string_view Script();

}  // namespace tessera::cli::report
