// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/api/parts/tile_answers.h"
#include "tessera/base/diagnostic.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/format.h"
#include "tessera/problem/problem.h"

namespace CLI {
class App;
}
namespace CLI {
class Option;
}

namespace tessera::cli {

class Console;

// A network, and the notes of its reader.
struct LoadedNetwork {
  graph::Graph graph;
  std::vector<std::string> notes;
  std::string nodes = {};  // what became of each node of an imported file, in one line

  // Returns the notes and `nodes`, as an answer contains them.
  std::vector<std::string> AllNotes() const;
};

// Why a network cannot be loaded: it is refused as bad input, or unsupported by this build.
struct NetworkRefusal {
  base::Diagnostic diagnostic;
  ExitCode code = ExitCode::kBadInput;
};

// Adds the measured tiles of a file to the network (docs/costs.md). Returns a note if rows are for
// other networks.
base::Expected<std::optional<std::string>> ReadCosts(const std::string& path,
                                                     graph::Graph& network);

// The options of every command that reads a network, and the reader. Suffix and content determine
// the format.
class NetworkOptions {
 public:
  void Declare(CLI::App& app);

  // Registers in `files` the files that the options name.
  void AddInputs(Destinations& files) const;

  // Loads the network; "-" is standard input. `profile` may also describe operators; empty: none.
  tl::expected<LoadedNetwork, NetworkRefusal> Load(const std::string& path,
                                                   const std::string& profile) const;

 private:
  base::Expected<graph::import::common::ImportOptions> ReadOptions(
      const std::string& profile) const;
  std::string NamesOfGivenOptions() const;

  std::vector<std::string> dims_;
  std::vector<std::string> states_;
  std::string floats_as_;
  std::string ops_file_;
  std::string sizes_;
  std::string costs_;
};

// Returns lines of examples of `tessera plan`: one for each format whose import has options.
std::string ImportExamples();

using api::parts::TileSubject;

// The options that make a subject of a network.
class SubjectOptions {
 public:
  // Adds --hw, --ops and those of NetworkOptions. Returns the option --hw.
  CLI::Option* Declare(CLI::App& app);

  bool NamesProfile() const { return !profile_.empty(); }

  // Registers in `files` the files that the options name.
  void AddInputs(Destinations& files) const;

  // Loads the subject, and prints the notes.
  tl::expected<TileSubject, NetworkRefusal> Load(Console& console,
                                                 const std::string& network) const;

 private:
  std::string profile_;
  std::string interval_;
  NetworkOptions import_;
};

// The options that reduce a subject to one Problem: --tile and --policy.
class TileChoice {
 public:
  // Both options require `profile`.
  void Declare(CLI::App& app, CLI::Option* profile);

  // Returns the Problem of this tile under this policy. Refuses an invalid tile or policy, and, as
  // unsupported, operators that the profile cannot run.
  tl::expected<problem::Problem, NetworkRefusal> Formulate(const TileSubject& subject) const;

 private:
  std::string tile_;
  std::string policy_;
};

}  // namespace tessera::cli
