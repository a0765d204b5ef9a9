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
  problem::Bytes capacity = 0;                      // of memories[0]
  std::optional<plan::Plan> plan;                   // when the file is a plan
  std::optional<problem::Explanation> explanation;  // when it is infeasible; then there is no allocation
};

// What a command is told of an answer on its command line.
struct AnswerFiles {
  void Declare(CLI::App& app);

  std::string file;     // a plan, an allocation in JSON, or a CSV with an offset column
  std::string problem;  // what an allocation answers; empty for plans and CSV
  std::optional<problem::Bytes>
      capacity;  // needed for CSV; replaces that of an allocation; a plan takes none
};

// Refuses answers that hold neither addresses nor, where `collisions` are wanted, an explanation.
base::Expected<Answer> LoadAnswer(const AnswerFiles& files, bool collisions = false);

// What "format" says at the top of a JSON document; empty where it says nothing.
base::Expected<std::string> FormatOf(const std::string& text, const std::string& file);

}  // namespace tessera::cli
