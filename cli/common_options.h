#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

// The options that several commands have in common.
namespace tessera::cli {

// --format: what stdout gets.
class AnswerFormat {
 public:
  void Declare(CLI::App& app);
  bool IsJson() const { return format_ == "json"; }

 private:
  std::string format_ = "text";
};

// --threads: as many as the machine has, unless given.
class ThreadCount {
 public:
  ThreadCount();

  // `answer`: what the threads never change, as "plan".
  void Declare(CLI::App& app, std::string_view answer);
  int Get() const { return threads_; }

 private:
  int threads_;
};

}  // namespace tessera::cli
