#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// A finished answer read back from a file, to be checked or drawn.
struct Answer {
  problem::Problem problem;
  problem::Allocation allocation;
  problem::Bytes capacity = 0;     // of memories[0]
  std::optional<plan::Plan> plan;  // when the file is a plan
};

// What a command is told of an answer on its command line.
struct AnswerFiles {
  void Declare(CLI::App& app);

  std::string file;     // a plan, an allocation in JSON, or a CSV with an offset column
  std::string problem;  // what an allocation answers; empty for plans and CSV
  std::optional<problem::Bytes>
      capacity;  // needed for CSV; replaces that of an allocation; a plan takes none
};

base::Expected<Answer> LoadAnswer(const AnswerFiles& files);

}  // namespace tessera::cli
