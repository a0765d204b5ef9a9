// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/cli/console.h"
#include "tessera/cli/exit_code.h"

namespace tessera::cli {

// Returns the suffix that states the format of an output. A pipe or a device without a suffix, such
// as /dev/stdout, receives JSON.
std::string FormatSuffixOf(const std::string& path);

// The files that one call reads and writes. Errors of the outputs that can be detected are reported
// before the work begins. A later failure affects only its own file. An older file that the call
// did not replace is named at the end, because it could be mistaken for the answer of this call.
class Destinations {
 public:
  // Registers an input; "-" is standard input. Empty paths are ignored, here and below.
  void Read(std::string_view option, const std::string& path);

  // Registers an output, with the option that names it.
  void Write(std::string_view option, const std::string& path);

  // Registers a file that the call reads, if it exists, and changes during the work.
  void Update(std::string_view option, const std::string& path);

  // Registers a folder with these files in it. It is created if it is missing.
  void WriteInto(std::string_view option, const std::string& folder,
                 std::vector<std::string_view> names);

  // Checks the outputs, does the work of a command, and names the files that it did not replace.
  // Returns the code of the work; or kUsage if an output is an input, or two outputs are one file;
  // or kCannotWrite if an output cannot be written. In these cases the console reports the error,
  // and the work is not done. Must be called once for each call of a command.
  ExitCode Around(Console& console, const std::function<ExitCode()>& work);

  // Registers, during the work, an input that was found only then. Returns kUsage, with a message
  // on the console, if an output is this file; then the file must not be read.
  ExitCode ReadDuring(Console& console, std::string_view option, const std::string& path);

  // Writes each output separately. Returns kCannotWrite if some failed; the console names these.
  ExitCode Save(Console& console, std::span<const base::Output> outputs);

  // Must be called after a folder was written.
  void NoteSaved(const std::string& folder);

 private:
  // Identifies a file, to detect that two names denote one file: device and inode. For a file that
  // does not exist yet: those of its folder, and its name.
  struct Identity {
    dev_t device = 0;
    ino_t inode = 0;
    std::string name;
    bool operator==(const Identity&) const = default;
  };
  struct Named {
    std::string option;
    std::string path;
    std::vector<std::string_view> names;    // of files in a folder
    std::optional<Identity> identity = {};  // set by Check; not set for pipes and devices
    bool is_old = false;                    // set by Check: the file exists
    bool saved = false;
  };

  static std::optional<Identity> IdentityOf(const std::string& path);
  static std::optional<Identity> IdentityOf(int descriptor);
  static std::optional<Identity> PlannedIdentityOf(const std::filesystem::path& path);
  static bool Writes(const Named& folder, const std::optional<Identity>& file);
  ExitCode Check(Console& console);
  // The old files and folders that are not written yet, each in a line.
  std::vector<std::string> DescribeLeft() const;
  void PrepareForInterrupt() const;
  ExitCode CheckFile(Console& console, Named& file) const;
  ExitCode CheckFolder(Console& console, Named& folder) const;
  std::optional<std::string> FindClash(const Named& file, size_t index) const;

  std::vector<Named> inputs_;
  std::vector<Named> files_;
  std::vector<std::string> updated_;
  std::vector<Named> folders_;
};

// Returns the existing files that a command line names as outputs, each in a line, if it cannot be
// parsed.
std::vector<std::string> DescribeOldOutputs(std::span<char* const> words);

}  // namespace tessera::cli
