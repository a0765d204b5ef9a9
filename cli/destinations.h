#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/cli/console.h"
#include "tessera/cli/exit_code.h"
#include "tessera/cli/files.h"

namespace tessera::cli {

// The files that one call reads and writes. All that can be known to be wrong with the outputs is
// found before the work begins; what fails later fails alone; and an older file that the call did
// not replace is named at the end, as it would look like this call's answer.
class Destinations {
 public:
  // An input; "-" is standard input. Empty paths are left out, here and below.
  void Read(std::string_view option, const std::string& path);

  // An output, by the option that names it.
  void Write(std::string_view option, const std::string& path);

  // A folder that is made where it is missing, with these files in it.
  void WriteInto(std::string_view option, const std::string& folder,
                 std::vector<std::string_view> names);

  // Checks the outputs, does the work of a command, and names what it left as it was. Gives the
  // work's code, or: kUsage where an output is an input, or two outputs are one file; kCannotWrite
  // where one cannot be written. Then the console says so, and there is no work. Once for each call
  // of a command.
  ExitCode Around(Console& console, const std::function<ExitCode()>& work);

  // Writes the outputs, each by itself; kCannotWrite where some failed, which the console names.
  ExitCode Save(Console& console, std::span<const Output> outputs);

  // A folder was written.
  void NoteSaved(const std::string& folder);

 private:
  // What tells whether two names are one file: device and inode; of a file that is not there yet,
  // those of its folder, and its name.
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
    std::optional<Identity> identity = {};  // set by Check; none of pipes and devices
    bool is_old = false;                    // set by Check: a file stands there
    bool saved = false;
  };

  static std::optional<Identity> IdentityOf(const std::string& path);
  static std::optional<Identity> IdentityOf(int descriptor);
  ExitCode Check(Console& console);
  void NoteLeft(Console& console) const;
  ExitCode CheckFile(Console& console, Named& file) const;
  ExitCode CheckFolder(Console& console, Named& folder) const;
  std::optional<std::string> FindClash(const Named& file, size_t index) const;

  std::vector<Named> inputs_;
  std::vector<Named> files_;
  std::vector<Named> folders_;
};

}  // namespace tessera::cli
