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
#include <vector>

namespace tessera::cli {
namespace {

constexpr size_t kMaxBytes = size_t{1} << 30;

base::Diagnostic FileFault(const std::string& path, std::string message, std::string hint = "") {
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
    if (content.size() > kMaxBytes) return tl::unexpected(FileFault(name, "the input is larger than 1 GiB"));
  }
  if (stream.bad()) return tl::unexpected(FileFault(name, "reading failed"));
  return content;
}

base::Expected<void> Fill(const std::filesystem::path& place, std::string_view content) {
  std::ofstream stream(place, std::ios::binary);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.flush();
  if (stream) return {};
  return tl::unexpected(FileFault(place.string(), std::string("cannot write: ") + std::strerror(errno),
                                  "choose a folder that exists and is writable"));
}

// The whole content, waiting beside the place where it belongs.
struct Draft {
  std::filesystem::path place;
  std::filesystem::path target;
};

base::Expected<void> WriteDraft(const Output& output, std::vector<Draft>& drafts) {
  if (output.path == "-")
    return tl::unexpected(FileFault(output.path, "cannot write: this is no file", "name a file"));
  std::error_code error;
  std::filesystem::path target(output.path);
  if (const auto status = std::filesystem::status(target, error); std::filesystem::exists(status)) {
    if (std::filesystem::is_directory(status))
      return tl::unexpected(FileFault(output.path, "cannot write: this is a folder", "name a file"));
    // A pipe or a device can be written to, but must not be replaced; a link is followed.
    if (std::filesystem::is_other(status)) return Fill(target, output.content);
    target = std::filesystem::canonical(target, error);
  }
  Draft draft{target, target};
  draft.place += ".tessera-" + std::to_string(getpid()) + '-' + std::to_string(drafts.size());
  base::Expected<void> written = Fill(draft.place, output.content);
  drafts.push_back(std::move(draft));
  if (!written) written.error().file = output.path;
  return written;
}

}  // namespace

base::Expected<std::string> ReadInput(const std::string& path) {
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

base::Expected<void> WriteOutputs(std::span<const Output> outputs) {
  std::vector<Draft> drafts;
  base::Expected<void> written;
  for (const Output& output : outputs) {
    if (written) written = WriteDraft(output, drafts);
  }
  std::error_code error;
  for (const Draft& draft : drafts) {
    if (written) {
      std::filesystem::rename(draft.place, draft.target, error);
      if (error)
        written = tl::unexpected(FileFault(draft.target.string(), "cannot write: " + error.message()));
    }
    if (!written) std::filesystem::remove(draft.place, error);
  }
  return written;
}

std::string SuffixOf(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return suffix;
}

}  // namespace tessera::cli
