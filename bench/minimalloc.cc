// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/minimalloc.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"

namespace tessera::bench {
namespace {

using problem::Problem;

constexpr double kGrace = 1;  // seconds that a program may take to notice that its time is over

// Kills the child if it runs for longer than `seconds`. waitpid then reports the end.
void KillAfter(pid_t child, double seconds) {
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  if (handle < 0) return;
  pollfd ended{handle, POLLIN, 0};
  if (poll(&ended, 1, static_cast<int>(seconds * 1000)) == 0) kill(child, SIGKILL);
  close(handle);
}

// Returns whether the process ended by itself and well within `seconds`.
bool Run(std::vector<std::string> words, double seconds) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = -1;
  const int failed =
      posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) return false;
  KillAfter(child, seconds);
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// MiniMalloc answers with the CSV of the Problem and one more column, the offset.
bool IsRight(const Problem& question, const std::filesystem::path& answer) {
  std::ifstream file(answer);
  const auto read = problem::files::ReadCsv(std::string{std::istreambuf_iterator<char>(file), {}},
                                            answer.string());
  if (!read || read->buffers.size() != question.buffers.size()) return false;
  problem::Allocation allocation;
  for (size_t i = 0; i < question.buffers.size(); ++i) {
    const problem::Buffer& buffer = read->buffers[i];
    if (buffer.id != question.buffers[i].id || !buffer.offset) return false;
    allocation.offsets.push_back(*buffer.offset);
  }
  return problem::Validate(question, allocation, question.memories[0].capacity, 1).empty();
}

}  // namespace

std::optional<double> RunMiniMalloc(const std::string& path, Problem question, double seconds) {
  const auto csv = problem::files::WriteCsv(question);
  if (!csv) return std::nullopt;
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("allocate_bench." + std::to_string(getpid()));
  std::filesystem::create_directories(folder);
  const std::filesystem::path input = folder / "input.csv", output = folder / "output.csv";
  std::ofstream(input) << *csv;
  const auto start = std::chrono::steady_clock::now();
  const bool ended = Run({path, "--capacity=" + std::to_string(question.memories[0].capacity),
                          "--input=" + input.string(), "--output=" + output.string(),
                          "--timeout=" + std::to_string(static_cast<int>(seconds * 1000)) + "ms"},
                         seconds + kGrace);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  const bool right = ended && IsRight(question, output);
  std::filesystem::remove_all(folder);
  return right ? std::optional(took.count()) : std::nullopt;
}

}  // namespace tessera::bench
