#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/destinations.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/reasons/fewest_modes.h"

namespace CLI {
class App;
}

// The files that commands take, read and understood.
namespace tessera::cli {

// CSV or JSON, told apart by the first character that is not blank.
base::Expected<problem::files::ProblemDocument> LoadProblem(const std::string& path);

// The index of the candidate of that name in the document's ladder. `path` is for messages.
base::Expected<size_t> FindCandidate(const problem::files::ProblemDocument& document,
                                     const std::string& name, const std::string& path);

// "rows=1, rows=2".
std::string NamesOfCandidates(const problem::Ladder& ladder);

// With what it extends, looked up beside the file that says so.
base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path);

// Tells `files` that the call reads this profile and what it extends.
void AddProfile(Destinations& files, const std::string& path);

// Name and content of a profile's file and of each file that it extends, the profile first.
base::Expected<std::vector<std::pair<std::string, std::string>>> ReadProfileTexts(
    const std::string& path);

// A finished answer read back from a file, to be checked or drawn.
struct Answer {
  problem::Problem problem;
  problem::Allocation allocation;
  problem::Bytes capacity = 0;     // of memories[0]
  std::optional<plan::Plan> plan;  // when the file is a plan
  std::optional<problem::Explanation>
      explanation;  // when it is infeasible; then there is no allocation
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

// What `tessera modes` asks about: for each plan its subgraphs one by one, then the plan as a
// whole; or Problems as they are.
struct ModeInputs {
  std::vector<search::reasons::ModeQuery> queries;
  std::vector<std::string> names;  // parallel to queries: "conv1..conv3 of plan.json", "plan.json"
  std::optional<hw_profiles::Profile> profile;  // of the plans
};

// Refuses files of both kinds together, plans of different profiles, Problems whose memories have
// different modes, and what has no modes.
base::Expected<ModeInputs> LoadModeInputs(const std::vector<std::string>& files);

}  // namespace tessera::cli
