// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

namespace tessera::base {

// Returns the content of a file, or of standard input for "-". Refuses folders, unreadable files,
// and more than 1 GiB.
Expected<std::string> ReadInput(const std::string& path);

struct Output {
  std::string path;
  std::string content;
};

// The destination of an output, with links followed.
struct OutputPlace {
  enum class Kind {
    kFile,        // a regular file, or none yet: it is replaced in one step
    kStream,      // a pipe or a device: it is opened and written
    kDescriptor,  // an open file of this process, such as /dev/stdout: it is written directly
  };
  Kind kind = Kind::kFile;
  std::filesystem::path path;
  std::optional<struct stat> old;  // the status of the existing file
  int descriptor = -1;             // of kDescriptor
};

// Finds the destination of an output. A link leads to its target, which need not exist. Refuses
// "-", folders, and destinations that cannot be written: a folder that is missing or not writable,
// a file that is not writable.
Expected<OutputPlace> FindPlace(const std::string& path);

// Writes a file under an unguessable name in the destination folder, and renames it when it is
// complete, so that readers see either the old content or the new. It keeps the mode of the file
// that it replaces.
Expected<void> WriteOne(const Output& output);

// As WriteOne, for files that are only useful together: all are written, or none is renamed.
Expected<void> WriteTogether(std::span<const Output> outputs);

// As WriteTogether, for files given by their paths in a folder. Missing folders are created, and
// removed again if writing fails.
Expected<void> WriteInto(const std::string& folder, std::span<const Output> outputs);

// "out" of "out/plan.json", "." of "plan.json".
std::filesystem::path FolderOf(const std::filesystem::path& path);

// ".json" of "out/plan.json", in lower case; empty when there is none.
std::string SuffixOf(const std::string& path);

}  // namespace tessera::base
