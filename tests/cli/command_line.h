// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

// Runs the real `tessera` as a shell would.
namespace tessera::cli {

// The exit code and the output of a run.
struct Outcome {
  int exit_code = -1;  // 128 + n when signal n ended the process
  std::string out;
  std::string err;
};

using Arguments = std::vector<std::string>;

// A running `tessera`. Its standard streams are files in `streams`; it runs in `folder`.
class Process {
 public:
  Process(const Arguments& arguments, const std::filesystem::path& folder,
          const std::filesystem::path& streams, const std::string& input);
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process();  // ends it

  // Waits until stderr holds `text`; false when the process ended without printing it.
  bool AwaitError(const std::string& text);

  void Signal(int signal) const;

  // Waits for the end.
  Outcome Wait();

 private:
  bool Ended();

  std::filesystem::path streams_;
  pid_t pid_ = -1;
  int status_ = 0;
  bool ended_ = false;
};

// A test with its own folder, in which the command runs.
class CommandLineTest : public testing::Test {
 protected:
  CommandLineTest();
  ~CommandLineTest() override;

  Outcome Run(const Arguments& arguments, const std::string& input = "") const;

  // `tessera plan` of a small shipped network on a shipped profile: PlanPatentChain("mcu_320k",
  // {"--output", "plan.json"}).
  Outcome PlanPatentChain(const std::string& profile, const Arguments& more = {}) const;

  std::filesystem::path Folder() const { return root_ / "work"; }
  std::filesystem::path Streams() const { return root_; }

  void Write(const std::string& name, const std::string& content) const;
  std::string Read(const std::string& name) const;
  nlohmann::ordered_json ReadJson(const std::string& name) const;
  std::vector<std::string> Files() const;  // names in the folder, ascending

 private:
  std::filesystem::path root_;
};

// The path of a file of the project: Shipped("hw_profiles/mcu_320k.yaml").
std::string Shipped(const std::string& path);

// The document on stdout, or a failed test.
nlohmann::ordered_json ParseJson(const std::string& text);

// `text` with its one occurrence of `from` replaced.
std::string Replace(std::string text, const std::string& from, const std::string& to);

}  // namespace tessera::cli
