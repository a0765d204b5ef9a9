// SPDX-License-Identifier: Apache-2.0

#include "command_line.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace tessera::cli {
namespace {

std::string ReadFile(const std::filesystem::path& path) {
  const std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream.good()) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

void WriteFile(const std::filesystem::path& path, const std::string& content) {
  std::ofstream stream(path, std::ios::binary);
  stream << content;
  ASSERT_TRUE(stream.good()) << path;
}

// Replaces the process by `tessera`; only for a child between fork and exec.
[[noreturn]] void Become(std::vector<char*>& words, const std::filesystem::path& folder,
                         const std::filesystem::path& streams) {
  const auto redirect = [&](const char* name, int flags, int target) {
    const int file = open((streams / name).c_str(), flags, 0600);
    return file >= 0 && dup2(file, target) >= 0;
  };
  const bool ready = redirect("stdin", O_RDONLY, STDIN_FILENO) &&
                     redirect("stdout", O_WRONLY | O_CREAT | O_TRUNC, STDOUT_FILENO) &&
                     redirect("stderr", O_WRONLY | O_CREAT | O_TRUNC, STDERR_FILENO) &&
                     chdir(folder.c_str()) == 0;
  if (ready) execv(words.front(), words.data());
  _exit(127);
}

}  // namespace

Process::Process(const Arguments& arguments, const std::filesystem::path& folder,
                 const std::filesystem::path& streams, const std::string& input)
    : streams_(streams) {
  WriteFile(streams_ / "stdin", input);
  WriteFile(streams_ / "stderr", "");
  std::vector<std::string> words = {TESSERA_COMMAND};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) Become(pointers, folder, streams);
  if (pid_ < 0) throw std::runtime_error("cannot start a process");
}

Process::~Process() {
  if (ended_) return;
  Signal(SIGKILL);
  waitpid(pid_, &status_, 0);
}

bool Process::Ended() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return ended_;
}

bool Process::AwaitError(const std::string& text) {
  for (;;) {
    const bool ended = Ended();
    if (ReadFile(streams_ / "stderr").find(text) != std::string::npos) return true;
    if (ended) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void Process::Signal(int signal) const { kill(pid_, signal); }

Outcome Process::Wait() {
  while (!ended_ && waitpid(pid_, &status_, 0) != pid_ && errno == EINTR) {
  }
  ended_ = true;
  Outcome outcome;
  outcome.exit_code = WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
  outcome.out = ReadFile(streams_ / "stdout");
  outcome.err = ReadFile(streams_ / "stderr");
  return outcome;
}

CommandLineTest::CommandLineTest() {
  std::string pattern = (std::filesystem::temp_directory_path() / "tessera-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary folder");
  root_ = pattern;
  std::filesystem::create_directory(Folder());
}

CommandLineTest::~CommandLineTest() {
  std::error_code error;
  std::filesystem::remove_all(root_, error);
}

Outcome CommandLineTest::Run(const Arguments& arguments, const std::string& input) const {
  return Process(arguments, Folder(), Streams(), input).Wait();
}

Outcome CommandLineTest::PlanPatentChain(const std::string& profile, const Arguments& more) const {
  Arguments arguments = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                         Shipped("hw_profiles/" + profile + ".yaml")};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return Run(arguments);
}

void CommandLineTest::Write(const std::string& name, const std::string& content) const {
  WriteFile(Folder() / name, content);
}

std::string CommandLineTest::Read(const std::string& name) const {
  return ReadFile(Folder() / name);
}

nlohmann::ordered_json CommandLineTest::ReadJson(const std::string& name) const {
  return ParseJson(Read(name));
}

std::vector<std::string> CommandLineTest::Files() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Shipped(const std::string& path) {
  return std::string(TESSERA_SOURCE_DIR) + '/' + path;
}

nlohmann::ordered_json ParseJson(const std::string& text) {
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(text, nullptr, false);
  EXPECT_FALSE(document.is_discarded()) << text;
  return document;
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from << " stands there twice";
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

}  // namespace tessera::cli
