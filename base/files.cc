// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <utility>

namespace tessera::base {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

Diagnostic FileFault(const std::string& path, std::string message, std::string hint = "") {
  Diagnostic fault;
  fault.file = path;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

Expected<std::string> ReadStream(std::istream& stream, const std::string& name) {
  std::string content;
  std::string block(size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    content.append(block, 0, static_cast<size_t>(stream.gcount()));
    if (content.size() > kMaxBytes)
      return tl::unexpected(FileFault(name, "the input is larger than 1 GiB"));
  }
  if (stream.bad()) return tl::unexpected(FileFault(name, "reading failed"));
  return content;
}

Diagnostic CannotWrite(const std::string& path, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  const char* hint = full             ? "free some space, or choose another folder"
                     : error == EPIPE ? "the reader of this pipe has closed it"
                     : error == ENXIO ? "start the reader of this pipe first"
                                      : "choose a folder that exists and is writable";
  const char* reason = error == ENXIO ? "no process reads this pipe" : std::strerror(error);
  return FileFault(path, std::string("cannot write: ") + reason, hint);
}

// An open file that is closed by the destructor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() { Close(); }

  int Number() const { return number_; }

  // Returns the error, or 0. Some file systems report a failed write only on close.
  int Close() {
    const int number = std::exchange(number_, -1);
    return number < 0 || close(number) == 0 ? 0 : errno;
  }

 private:
  int number_;
};

// Returns the error, or 0.
int WriteAll(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = write(descriptor, content.data(), content.size());
    if (count < 0 && errno != EINTR) return errno;
    if (count > 0) content.remove_prefix(static_cast<size_t>(count));
  }
  return 0;
}

// Opens a pipe or a device for writing. A pipe that no process reads is retried for two seconds or
// until a signal, because its reader may have been started at the same time. Returns -1 on error.
int OpenStream(const std::filesystem::path& path) {
  constexpr int kMostTries = 200;
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 10'000'000};
  for (int tries = 1;; ++tries) {
    const int number = open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (number >= 0) {
      const int flags = fcntl(number, F_GETFL);
      fcntl(number, F_SETFL, flags & ~O_NONBLOCK);
      return number;
    }
    if (errno != ENXIO || tries == kMostTries) return -1;
    if (nanosleep(&kPause, nullptr) != 0) return -1;
  }
}

// 128 random bits in hexadecimal; empty if the system cannot supply them.
std::string RandomName() {
  std::array<unsigned char, 16> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return "";
  std::string name;
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

// The complete content of one output, before it is renamed.
class Draft {
 public:
  static Expected<Draft> Write(const Output& output) {
    Expected<OutputPlace> place = FindPlace(output.path);
    if (!place) return tl::unexpected(place.error());
    Draft draft(output.path, *std::move(place));
    const int error = draft.place_.kind == OutputPlace::Kind::kFile
                          ? draft.FillFile(output.content)
                          : draft.FillStream(output.content);
    if (error != 0) return tl::unexpected(CannotWrite(output.path, error));
    return draft;
  }

  Draft(Draft&& other) noexcept
      : name_(std::move(other.name_)),
        place_(std::move(other.place_)),
        draft_(std::exchange(other.draft_, std::filesystem::path())) {}
  Draft& operator=(Draft&&) = delete;
  ~Draft() {
    if (!draft_.empty()) unlink(draft_.c_str());
  }

  // Renames a file to its final name.
  Expected<void> Commit() {
    if (draft_.empty()) return {};
    if (rename(draft_.c_str(), place_.path.c_str()) != 0)
      return tl::unexpected(CannotWrite(name_, errno));
    draft_.clear();
    return {};
  }

 private:
  Draft(std::string name, OutputPlace place) : name_(std::move(name)), place_(std::move(place)) {}

  // A new file has the mode that the umask leaves; a file that replaces another has the mode of
  // that one. Until then only its owner can read it, because the old file may be restricted.
  int FillFile(std::string_view content) {
    const std::string name = RandomName();
    if (name.empty()) return EIO;
    std::filesystem::path draft = FolderOf(place_.path) / (".tessera-" + name);
    Descriptor file(open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
                         place_.old ? 0600 : 0666));
    if (file.Number() < 0) return errno;
    draft_ = std::move(draft);  // allocates nothing: from here on the destructor removes the file
    if (const int error = WriteAll(file.Number(), content); error != 0) return error;
    if (place_.old) {
      // Only root can change the owner. For other users the owner is equal, or the change is
      // refused.
      const bool given = fchown(file.Number(), place_.old->st_uid, place_.old->st_gid) == 0;
      const mode_t kept = place_.old->st_mode & (given ? 07777U : 0777U);
      if (fchmod(file.Number(), kept) != 0) return errno;
    }
    return file.Close();
  }

  int FillStream(std::string_view content) const {
    if (place_.kind == OutputPlace::Kind::kDescriptor) return WriteAll(place_.descriptor, content);
    Descriptor file(OpenStream(place_.path));
    if (file.Number() < 0) return errno;
    if (const int error = WriteAll(file.Number(), content); error != 0) return error;
    return file.Close();
  }

  std::string name_;
  OutputPlace place_;
  std::filesystem::path draft_;  // the file under its passing name; empty when there is none
};

// The number of the open file of this process that the path names, as /proc/self/fd/1 does.
std::optional<int> DescriptorAt(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path own = std::filesystem::canonical("/proc/self/fd", error);
  if (error || std::filesystem::canonical(FolderOf(path), error) != own || error)
    return std::nullopt;
  const std::string name = path.filename().string();
  int number = -1;
  const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (fault != std::errc() || end != name.data() + name.size() || number < 0) return std::nullopt;
  return number;
}

// Follows links to their final target: a file, a descriptor, or an unused name. Returns the error,
// or 0.
int FollowLinks(OutputPlace& place) {
  constexpr int kMostLinks = 40;
  for (int link = 0; link <= kMostLinks; ++link) {
    if (const std::optional<int> number = DescriptorAt(place.path)) {
      place.kind = OutputPlace::Kind::kDescriptor;
      place.descriptor = *number;
      return 0;
    }
    struct stat found {};
    if (lstat(place.path.c_str(), &found) != 0) return errno == ENOENT ? 0 : errno;
    if (!S_ISLNK(found.st_mode)) {
      place.old = found;
      return 0;
    }
    std::error_code error;
    const std::filesystem::path target = std::filesystem::read_symlink(place.path, error);
    if (error) return error.value();
    place.path = target.is_absolute() ? target : FolderOf(place.path) / target;
  }
  return ELOOP;
}

// Returns why the place cannot be written; 0 if it can.
int FindObstacle(const OutputPlace& place) {
  if (place.kind == OutputPlace::Kind::kDescriptor) {
    const int flags = fcntl(place.descriptor, F_GETFL);
    return flags < 0 || (flags & O_ACCMODE) == O_RDONLY ? EBADF : 0;
  }
  const auto is_open = [](const std::filesystem::path& path, int mode) {
    return faccessat(AT_FDCWD, path.c_str(), mode, AT_EACCESS) == 0;
  };
  if (place.old && !is_open(place.path, W_OK)) return errno;
  if (place.kind == OutputPlace::Kind::kStream) return 0;
  const std::filesystem::path folder = FolderOf(place.path);
  struct stat found {};
  if (stat(folder.c_str(), &found) != 0) return errno;
  if (!S_ISDIR(found.st_mode)) return ENOTDIR;
  return is_open(folder, W_OK | X_OK) ? 0 : errno;
}

// Folders that were made for outputs. They are removed, if empty, unless Keep is called.
class MadeFolders {
 public:
  MadeFolders() = default;
  MadeFolders(const MadeFolders&) = delete;
  MadeFolders& operator=(const MadeFolders&) = delete;
  ~MadeFolders() {
    std::error_code ignored;
    for (; !made_.empty(); made_.pop_back()) std::filesystem::remove(made_.back(), ignored);
  }

  // Makes the folder, and before it those above it, where they are missing.
  Expected<void> Make(const std::filesystem::path& folder) {
    std::error_code error;
    if (std::filesystem::is_directory(folder, error)) return {};
    if (folder.has_relative_path() && folder.parent_path() != folder) {
      if (auto above = Make(FolderOf(folder)); !above) return above;
    }
    if (std::filesystem::create_directory(folder, error)) made_.push_back(folder);
    if (!error) return {};
    return tl::unexpected(
        FileFault(folder.string(), "cannot make this folder: " + error.message()));
  }

  void Keep() { made_.clear(); }

 private:
  std::vector<std::filesystem::path> made_;  // outer folders first
};

}  // namespace

Expected<std::string> ReadInput(const std::string& path) {
  if (path == "-") return ReadStream(std::cin, "standard input");
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return tl::unexpected(FileFault(path, "this is a folder, not a file"));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return tl::unexpected(
        FileFault(path, std::string("cannot read: ") + std::strerror(errno), "check the path"));
  }
  return ReadStream(stream, path);
}

Expected<OutputPlace> FindPlace(const std::string& path) {
  if (path == "-")
    return tl::unexpected(FileFault(path, "cannot write: this is no file", "name a file"));
  OutputPlace place;
  place.path = path;
  if (const int error = FollowLinks(place); error != 0)
    return tl::unexpected(CannotWrite(path, error));
  const bool is_folder = place.old ? S_ISDIR(place.old->st_mode) : !place.path.has_filename();
  if (is_folder && place.kind == OutputPlace::Kind::kFile)
    return tl::unexpected(FileFault(path, "cannot write: this is a folder", "name a file"));
  if (place.old && !S_ISREG(place.old->st_mode)) place.kind = OutputPlace::Kind::kStream;
  if (const int error = FindObstacle(place); error != 0)
    return tl::unexpected(CannotWrite(path, error));
  return place;
}

Expected<void> WriteOne(const Output& output) { return WriteTogether({&output, 1}); }

Expected<void> WriteTogether(std::span<const Output> outputs) {
  std::vector<Draft> drafts;
  for (const Output& output : outputs) {
    Expected<Draft> draft = Draft::Write(output);
    if (!draft) return tl::unexpected(draft.error());
    drafts.push_back(*std::move(draft));
  }
  for (Draft& draft : drafts) {
    if (Expected<void> moved = draft.Commit(); !moved) return moved;
  }
  return {};
}

Expected<void> WriteInto(const std::string& folder, std::span<const Output> outputs) {
  MadeFolders folders;
  if (auto made = folders.Make(folder); !made) return made;
  std::vector<Output> placed;
  placed.reserve(outputs.size());
  for (const Output& output : outputs) {
    const std::filesystem::path path = std::filesystem::path(folder) / output.path;
    if (auto made = folders.Make(FolderOf(path)); !made) return made;
    placed.push_back({path.string(), output.content});
  }
  if (auto written = WriteTogether(placed); !written) return written;
  folders.Keep();
  return {};
}

std::filesystem::path FolderOf(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

std::string SuffixOf(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

}  // namespace tessera::base
