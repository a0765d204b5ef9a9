// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/destinations.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "tessera/base/text.h"

namespace tessera::cli {
namespace {

// Options that name a file to write, of all commands.
constexpr std::array<std::string_view, 4> kOutputOptions = {"--output", "--report", "--trace",
                                                            "--emit-header"};

std::string WordsOfLeft(const std::string& path) {
  return fmt::format("the file at {} is from an earlier run and was left as it was", path);
}

// "--output plan.json"
std::string Words(std::string_view option, const std::string& path) {
  if (path == "-") return "standard input";
  return option.starts_with('-') ? fmt::format("{} {}", option, path) : path;
}

}  // namespace

std::string FormatSuffixOf(const std::string& path) {
  std::string suffix = base::SuffixOf(path);
  if (!suffix.empty()) return suffix;
  const base::Expected<base::OutputPlace> place = base::FindPlace(path);
  const bool is_stream = place && place->kind != base::OutputPlace::Kind::kFile;
  return is_stream ? ".json" : "";
}

void Destinations::Read(std::string_view option, const std::string& path) {
  if (!path.empty()) inputs_.push_back({std::string(option), path, {}});
}

void Destinations::Write(std::string_view option, const std::string& path) {
  if (!path.empty()) files_.push_back({std::string(option), path, {}});
}

void Destinations::Update(std::string_view option, const std::string& path) {
  Read(option, path);
  if (!path.empty()) updated_.push_back(path);
}

void Destinations::WriteInto(std::string_view option, const std::string& folder,
                             std::vector<std::string_view> names) {
  if (!folder.empty()) folders_.push_back({std::string(option), folder, std::move(names)});
}

std::optional<Destinations::Identity> Destinations::IdentityOf(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return std::nullopt;
  if (S_ISCHR(found.st_mode)) return std::nullopt;
  return Identity{found.st_dev, found.st_ino, ""};
}

std::optional<Destinations::Identity> Destinations::IdentityOf(int descriptor) {
  struct stat found {};
  if (fstat(descriptor, &found) != 0 || !S_ISREG(found.st_mode)) return std::nullopt;
  return Identity{found.st_dev, found.st_ino, ""};
}

// Works for a file that does not exist yet too.
std::optional<Destinations::Identity> Destinations::PlannedIdentityOf(
    const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return IdentityOf(path.string());
  std::optional<Identity> identity = IdentityOf(base::FolderOf(path).string());
  if (identity) identity->name = path.filename().string();
  return identity;
}

// Returns whether the file is one of those in the folder, by that name or by a link.
bool Destinations::Writes(const Named& folder, const std::optional<Identity>& file) {
  return file && std::any_of(folder.names.begin(), folder.names.end(), [&](std::string_view name) {
           return PlannedIdentityOf(std::filesystem::path(folder.path) / name) == file;
         });
}

ExitCode Destinations::Around(Console& console, const std::function<ExitCode()>& work) {
  if (const ExitCode code = Check(console); code != ExitCode::kAnswer) return code;
  PrepareForInterrupt();
  const ExitCode code = work();
  for (const std::string& line : DescribeLeft()) console.Note(line);
  SayOnInterrupt("");
  return code;
}

ExitCode Destinations::Check(Console& console) {
  for (Named& input : inputs_)
    input.identity = input.path == "-" ? IdentityOf(STDIN_FILENO) : IdentityOf(input.path);
  for (const std::string& path : updated_) {
    if (const auto place = base::FindPlace(path); !place) {
      console.Refuse(place.error());
      return ExitCode::kCannotWrite;
    }
  }
  for (Named& file : files_) {
    if (const ExitCode code = CheckFile(console, file); code != ExitCode::kAnswer) return code;
  }
  for (Named& folder : folders_) {
    if (const ExitCode code = CheckFolder(console, folder); code != ExitCode::kAnswer) return code;
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    if (const std::optional<std::string> clash = FindClash(files_[i], i)) {
      console.Note(fmt::format("{}: {}", Words(files_[i].option, files_[i].path), *clash));
      return ExitCode::kUsage;
    }
  }
  return ExitCode::kAnswer;
}

ExitCode Destinations::CheckFile(Console& console, Named& file) const {
  const base::Expected<base::OutputPlace> place = base::FindPlace(file.path);
  if (!place) {
    console.Refuse(place.error());
    return ExitCode::kCannotWrite;
  }
  if (place->kind == base::OutputPlace::Kind::kDescriptor) return ExitCode::kAnswer;
  file.is_old = place->kind == base::OutputPlace::Kind::kFile && place->old;
  file.identity = PlannedIdentityOf(place->path);
  return ExitCode::kAnswer;
}

// A missing folder is created later, in the nearest one that exists.
ExitCode Destinations::CheckFolder(Console& console, Named& folder) const {
  const auto refuse = [&](int error) {
    base::Diagnostic fault;
    fault.file = folder.path;
    fault.message = std::string("cannot write into this folder: ") + std::strerror(error);
    fault.hint = "choose a folder that is writable, or the name of a new one";
    console.Refuse(fault);
    return ExitCode::kCannotWrite;
  };
  std::error_code error;
  std::filesystem::path there = std::filesystem::absolute(folder.path, error).lexically_normal();
  if (!there.has_filename()) there = there.parent_path();
  const std::filesystem::path wanted = there;
  while (!std::filesystem::exists(there, error) && there.has_relative_path()) {
    if (std::filesystem::is_symlink(there, error)) return refuse(ENOENT);
    there = there.parent_path();
  }
  if (!std::filesystem::is_directory(there, error)) return refuse(ENOTDIR);
  if (faccessat(AT_FDCWD, there.c_str(), W_OK | X_OK, AT_EACCESS) != 0) return refuse(errno);
  folder.identity = IdentityOf(there.string());
  if (folder.identity) folder.identity->name = wanted.lexically_relative(there).string();
  if (there != wanted) return ExitCode::kAnswer;
  folder.identity->name.clear();
  folder.is_old = std::any_of(folder.names.begin(), folder.names.end(), [&](std::string_view name) {
    return std::filesystem::exists(there / name, error);
  });
  for (const Named& input : inputs_) {
    const bool lies_in =
        input.path != "-" && IdentityOf(base::FolderOf(input.path).string()) == folder.identity;
    if (!lies_in && !Writes(folder, input.identity)) continue;
    console.Note(fmt::format(
        "{}: the input {} {}", Words(folder.option, folder.path), Words(input.option, input.path),
        lies_in ? "lies in this folder" : "is a link to a file of this folder"));
    return ExitCode::kUsage;
  }
  return ExitCode::kAnswer;
}

// Returns the other use of the same file in this call.
std::optional<std::string> Destinations::FindClash(const Named& file, size_t index) const {
  if (!file.identity) return std::nullopt;
  for (const Named& input : inputs_) {
    if (input.identity == file.identity)
      return fmt::format("this is the input {}", Words(input.option, input.path));
  }
  for (size_t i = 0; i < index; ++i) {
    if (files_[i].identity == file.identity)
      return fmt::format("this is the same file as {}", Words(files_[i].option, files_[i].path));
  }
  if (IdentityOf(STDOUT_FILENO) == file.identity) return "standard output goes to this file";
  if (IdentityOf(STDERR_FILENO) == file.identity) return "standard error goes to this file";
  for (const Named& folder : folders_) {
    if (folder.identity == file.identity)
      return fmt::format("this is the same file as {}", Words(folder.option, folder.path));
    if (Writes(folder, file.identity))
      return fmt::format("{} writes this file", Words(folder.option, folder.path));
  }
  return std::nullopt;
}

ExitCode Destinations::ReadDuring(Console& console, std::string_view option,
                                  const std::string& path) {
  const Named& input = inputs_.emplace_back(Named{std::string(option), path, {}, IdentityOf(path)});
  for (const Named& file : files_) {
    if (!input.identity || file.identity != input.identity) continue;
    console.Note(fmt::format("{}: this is the input {}", Words(file.option, file.path),
                             Words(option, path)));
    return ExitCode::kUsage;
  }
  return ExitCode::kAnswer;
}

ExitCode Destinations::Save(Console& console, std::span<const base::Output> outputs) {
  ExitCode code = ExitCode::kAnswer;
  for (const base::Output& output : outputs) {
    // An interrupt would leave the draft of a file. The reader of a pipe may never come.
    const base::Expected<base::OutputPlace> place = base::FindPlace(output.path);
    std::optional<HeldInterrupts> held;
    if (place && place->kind == base::OutputPlace::Kind::kFile) held.emplace();
    const base::Expected<void> written = base::WriteOne(output);
    if (!written) {
      console.Refuse(written.error());
      code = ExitCode::kCannotWrite;
    }
    for (Named& file : files_) file.saved = file.saved || (file.path == output.path && written);
    PrepareForInterrupt();
  }
  return code;
}

void Destinations::NoteSaved(const std::string& folder) {
  for (Named& named : folders_) named.saved = named.saved || named.path == folder;
  PrepareForInterrupt();
}

std::vector<std::string> Destinations::DescribeLeft() const {
  std::vector<std::string> lines;
  for (const Named& file : files_) {
    if (file.is_old && !file.saved) lines.push_back(WordsOfLeft(file.path));
  }
  for (const Named& folder : folders_) {
    if (folder.is_old && !folder.saved)
      lines.push_back(fmt::format(
          "the files in {} are from an earlier run and were left as they were", folder.path));
  }
  return lines;
}

void Destinations::PrepareForInterrupt() const {
  std::string text;
  for (const std::string& line : DescribeLeft()) text += base::Printable(line) + '\n';
  SayOnInterrupt(text);
}

std::vector<std::string> DescribeOldOutputs(std::span<char* const> words) {
  std::vector<std::string> lines;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    for (const std::string_view option : kOutputOptions) {
      if (!word.starts_with(option)) continue;
      std::string_view path = word.substr(option.size());
      if (path.empty() && i + 1 < words.size())
        path = words[i + 1];
      else if (path.starts_with('='))
        path.remove_prefix(1);
      else
        continue;
      std::error_code error;
      if (std::filesystem::is_regular_file(path, error))
        lines.push_back(WordsOfLeft(std::string(path)));
    }
  }
  return lines;
}

}  // namespace tessera::cli
