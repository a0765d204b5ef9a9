// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/process.h"

#include <fcntl.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

// Of mimalloc. Only programs that link it have the function.
extern "C" __attribute__((weak)) void mi_collect(bool force);

namespace tessera::base {
namespace {

// The first number of a file, such as "1073741824" or "max".
std::optional<int64_t> NumberIn(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string word;
  if (!(file >> word)) return std::nullopt;
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// A control group has the limits of all groups that contain it.
int64_t LeastUpwards(std::filesystem::path group, const std::filesystem::path& root,
                     const char* name) {
  int64_t least = std::numeric_limits<int64_t>::max();
  while (true) {
    if (const auto limit = NumberIn(group / name)) least = std::min(least, *limit);
    if (group == root || !group.has_relative_path()) return least;
    group = group.parent_path();
  }
}

// Lines of /proc/self/cgroup are "0::/path" (version 2) or "5:memory:/path" (version 1). Inside a
// container the path is often the path on the host, so the root of the mounted hierarchy is read as
// well.
int64_t LimitOfGroups() {
  static constexpr const char* kRoot2 = "/sys/fs/cgroup";
  static constexpr const char* kRoot1 = "/sys/fs/cgroup/memory";
  int64_t least = std::min(LeastUpwards(kRoot2, kRoot2, "memory.max"),
                           LeastUpwards(kRoot1, kRoot1, "memory.limit_in_bytes"));
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string_view kind = std::string_view(line).substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    if (kind.empty()) least = std::min(least, LeastUpwards(kRoot2 + path, kRoot2, "memory.max"));
    if (kind == "memory")
      least = std::min(least, LeastUpwards(kRoot1 + path, kRoot1, "memory.limit_in_bytes"));
  }
  return least;
}

int64_t LimitOfProcess(decltype(RLIMIT_AS) resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(
      std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int64_t>::max()));
}

// Pages that are mapped, and those of them in memory; nothing if the system does not report them.
struct Pages {
  int64_t mapped = 0;
  int64_t resident = 0;
};

Pages PagesOfProcess() {
  // No stream is used: a stream allocates, and this function is called when memory runs out.
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return {};
  std::array<char, 128> text{};
  const ssize_t length = read(file, text.data(), text.size());
  close(file);
  if (length <= 0) return {};
  const char* const end = text.data() + length;
  Pages pages;
  const char* const next = std::from_chars(text.data(), end, pages.mapped).ptr;
  if (next != end) std::from_chars(next + 1, end, pages.resident);
  return pages;
}

}  // namespace

int64_t FreeAddressSpace() {
  const int64_t limit = LimitOfProcess(RLIMIT_AS);
  if (limit == std::numeric_limits<int64_t>::max()) return limit;
  return std::max<int64_t>(0, limit - PagesOfProcess().mapped * sysconf(_SC_PAGESIZE));
}

int64_t ResidentBytes() { return PagesOfProcess().resident * sysconf(_SC_PAGESIZE); }

void ReturnFreeMemory() {
  if (mi_collect != nullptr) mi_collect(true);
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

int64_t UsableBytes() {
  const int64_t pages = sysconf(_SC_PHYS_PAGES);
  const int64_t machine =
      pages > 0 ? pages * sysconf(_SC_PAGESIZE) : std::numeric_limits<int64_t>::max();
  return std::min(
      {machine, LimitOfGroups(), LimitOfProcess(RLIMIT_AS), LimitOfProcess(RLIMIT_DATA)});
}

int UsableThreads(int wanted) {
  constexpr int64_t kStack = int64_t{8} << 20;  // the usual limit of the system
  return static_cast<int>(std::clamp<int64_t>(UsableBytes() / 4 / kStack, 1, std::max(1, wanted)));
}

}  // namespace tessera::base
