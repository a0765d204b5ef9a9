#include "tessera/cli/files.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>

namespace tessera::cli {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

base::Diagnostic Fault(const std::string& path, std::string message, std::string hint = "") {
  base::Diagnostic fault;
  fault.file = path;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

base::Expected<std::string> ReadStream(std::istream& stream, const std::string& name) {
  std::string content;
  std::string block(size_t{1} << 16, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    content.append(block, 0, static_cast<size_t>(stream.gcount()));
    if (content.size() > kMaxBytes) return tl::unexpected(Fault(name, "the input is larger than 1 GiB"));
  }
  if (stream.bad()) return tl::unexpected(Fault(name, "reading failed"));
  return content;
}

}  // namespace

base::Expected<std::string> ReadInput(const std::string& path) {
  if (path == "-") return ReadStream(std::cin, "standard input");
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return tl::unexpected(Fault(path, "this is a folder, not a file"));
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    return tl::unexpected(Fault(path, std::string("cannot read: ") + std::strerror(errno), "check the path"));
  }
  return ReadStream(stream, path);
}

base::Expected<void> WriteOutput(const std::string& path, std::string_view content) {
  const std::filesystem::path target(path);
  std::filesystem::path draft = target;
  draft += ".tessera-" + std::to_string(getpid());
  std::error_code error;
  {
    std::ofstream stream(draft, std::ios::binary);
    stream.write(content.data(), static_cast<std::streamsize>(content.size()));
    stream.flush();
    if (!stream) {
      const std::string why = std::strerror(errno);
      std::filesystem::remove(draft, error);
      return tl::unexpected(
          Fault(path, "cannot write: " + why, "choose a folder that exists and is writable"));
    }
  }
  std::filesystem::rename(draft, target, error);
  if (!error) return {};
  const std::string why = error.message();
  std::filesystem::remove(draft, error);
  return tl::unexpected(Fault(path, "cannot write: " + why));
}

std::string SuffixOf(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

}  // namespace tessera::cli
