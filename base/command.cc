// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/command.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

namespace tessera::base {
namespace {

using Clock = std::chrono::steady_clock;

// Both streams are files, so neither side waits for the other.
using TemporaryFile = std::unique_ptr<FILE, int (*)(FILE*)>;

TemporaryFile MakeFile() { return {std::tmpfile(), std::fclose}; }

Unexpected Refuse(std::string message) {
  Diagnostic fault;
  fault.message = std::move(message);
  return Unexpected(fault);
}

std::string ReadAll(FILE* file) {
  std::string text;
  std::array<char, 4096> block{};
  std::rewind(file);
  for (size_t read = 0; (read = std::fread(block.data(), 1, block.size(), file)) > 0;)
    text.append(block.data(), read);
  return text;
}

// Starts the command and returns the error number, or 0. The child leads a separate process group,
// so that processes which it starts can be killed with it.
int Start(const std::string& command, const std::string& folder, FILE* input, FILE* output,
          pid_t& child) {
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(input), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(output), STDOUT_FILENO);
  if (!folder.empty()) posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  const std::array<char*, 4> arguments = {shell.data(), option.data(), text.data(), nullptr};
  const int error =
      posix_spawn(&child, "/bin/sh", &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Returns the status of the child when it ended; nullopt if it was killed, or if another part of
// the process took its status.
std::optional<int> Await(pid_t child, Clock::time_point deadline,
                         const std::function<bool()>& stops) {
  constexpr auto kLeast = std::chrono::microseconds(200);
  constexpr auto kMost = std::chrono::milliseconds(20);
  Clock::duration pause = kLeast;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
    if (Clock::now() >= deadline || stops()) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
      return std::nullopt;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min<Clock::duration>(2 * pause, kMost);
  }
  return ended == child ? std::optional(status) : std::nullopt;
}

}  // namespace

Expected<std::string> RunCommand(const std::string& command, const std::string& folder,
                                 const std::string& input, std::chrono::milliseconds most,
                                 const std::function<bool()>& stops) {
  const TemporaryFile in = MakeFile();
  const TemporaryFile out = MakeFile();
  if (!in || !out) return Refuse("there is no temporary file for a command");
  std::fwrite(input.data(), 1, input.size(), in.get());
  if (std::fflush(in.get()) != 0) return Refuse("a temporary file for a command is too short");
  std::rewind(in.get());
  pid_t child = 0;
  if (const int error = Start(command, folder, in.get(), out.get(), child); error != 0)
    return Refuse(std::string("the command cannot start: ") + std::strerror(error));
  const Clock::time_point deadline = Clock::now() + most;
  const std::optional<int> status = Await(child, deadline, stops);
  if (!status && stops()) return Refuse("the command was stopped");
  if (!status && Clock::now() < deadline)
    return Refuse("the exit code of the command is not known");
  if (!status)
    return Refuse("the command took more than " +
                  std::to_string(std::chrono::duration_cast<std::chrono::seconds>(most).count()) +
                  " s");
  if (WIFSIGNALED(*status))
    return Refuse("the command ended with signal " + std::to_string(WTERMSIG(*status)));
  if (WEXITSTATUS(*status) != 0)
    return Refuse("the command ended with exit code " + std::to_string(WEXITSTATUS(*status)));
  return ReadAll(out.get());
}

}  // namespace tessera::base
