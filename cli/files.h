#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

namespace tessera::cli {

// The whole of a file, or of standard input for "-". Refuses folders, unreadable files, and more than 1 GiB.
base::Expected<std::string> ReadInput(const std::string& path);

// Replaces the file in one step: readers see the old content or the new, never a part. Pipes and devices are
// written to as they are. "-" is refused.
base::Expected<void> WriteOutput(const std::string& path, std::string_view content);

// ".json" of "out/plan.json", in lower case; empty when there is none.
std::string SuffixOf(const std::string& path);

}  // namespace tessera::cli
