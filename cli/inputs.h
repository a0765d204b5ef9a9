// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/destinations.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace CLI {
class App;
}

// The input files of commands, read and parsed.
namespace tessera::cli {

// Reads CSV with these lives, or JSON; the first character that is not blank decides which.
base::Expected<problem::files::ProblemDocument> LoadProblem(
    const std::string& path, std::optional<problem::files::Lifetimes> lifetimes = std::nullopt);

// Returns the index of the candidate with that name in the document's ladder. `path` is for
// messages.
base::Expected<size_t> FindCandidate(const problem::files::ProblemDocument& document,
                                     const std::string& name, const std::string& path);

// Returns "rows=1, rows=2".
std::string NamesOfCandidates(const problem::Ladder& ladder);

// Loads a profile with the files that it extends, which are found relative to the file that names
// them.
base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path);

// Registers in `files` this profile and the files that it extends as inputs of that option.
void AddProfile(Destinations& files, const std::string& path, std::string_view option = "--hw");

// Returns name and content of a profile's file and of each file that it extends, the profile first.
base::Expected<std::vector<std::pair<std::string, std::string>>> ReadProfileTexts(
    const std::string& path);

// Reads a plan without checking it. `name` is for messages.
base::Expected<plan::Plan> LoadPlan(const std::string& path, const std::string& name);

// A finished answer read from a file, to be checked or drawn.
struct Answer {
  problem::Problem problem;
  problem::Allocation allocation;
  problem::Bytes capacity = 0;     // of memories[0]
  std::optional<plan::Plan> plan;  // if the file is a plan
  // if it is infeasible; then there is no allocation
  std::optional<problem::Explanation> explanation;
};

// The options that specify an answer on the command line.
struct AnswerFiles {
  void Declare(CLI::App& app);

  std::string file;     // a plan, an allocation in JSON, or a CSV with an offset column
  std::string problem;  // the Problem of an allocation; empty for plans and CSV
  // required for CSV; overrides that of an allocation; not allowed with a plan
  std::optional<problem::Bytes> capacity;
  LifetimesOption lifetimes;  // of a CSV, as the answer or as its Problem
};

// Refuses answers that have neither addresses nor, if `collisions` is true, an explanation.
base::Expected<Answer> LoadAnswer(const AnswerFiles& files, bool collisions = false);

// Returns the value of "format" at the top of a JSON document; empty if there is none.
base::Expected<std::string> FormatOf(const std::string& text, const std::string& file);

}  // namespace tessera::cli
