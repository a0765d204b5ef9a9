#pragma once

#include <span>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

namespace tessera::cli {

// The whole of a file, or of standard input for "-". Refuses folders, unreadable files, and more than 1 GiB.
base::Expected<std::string> ReadInput(const std::string& path);

struct Output {
  std::string path;
  std::string content;
};

// Replaces the files, all or none: each is drafted beside its place, and only when every draft is whole do they
// move there, so that readers see the old content or the new, never a part. Pipes and devices are written to as
// they are, before anything moves. "-" is refused.
base::Expected<void> WriteOutputs(std::span<const Output> outputs);

// ".json" of "out/plan.json", in lower case; empty when there is none.
std::string SuffixOf(const std::string& path);

}  // namespace tessera::cli
