#include "tessera/cli/common_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "tessera/cli/numbers.h"

namespace tessera::cli {

void AnswerFormat::Declare(CLI::App& app) {
  app.add_option("--format", format_, "What stdout gets")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

ThreadCount::ThreadCount() : threads_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))) {}

void ThreadCount::Declare(CLI::App& app, std::string_view answer) {
  app.add_option("--threads", threads_,
                 fmt::format("Threads to work with; they change the time, never the {}", answer))
      ->transform(WholeNumber(1, 256))
      ->capture_default_str();
}

}  // namespace tessera::cli
