#pragma once

#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/graph/graph.h"

namespace CLI {
class App;
}

namespace tessera::cli {

class Console;

// A network, and what its reader has to say about it.
struct LoadedNetwork {
  graph::Graph graph;
  std::vector<std::string> notes;
  std::string nodes = {};  // of an ONNX file: what became of each of its nodes, in one line
};

// A network that cannot be had: refused as bad input, or unsupported by this build.
struct NetworkRefusal {
  base::Diagnostic diagnostic;
  ExitCode code = ExitCode::kBadInput;
};

// The options of every command that reads a network, and its reading: YAML or JSON, or ONNX by suffix or content.
class NetworkOptions {
 public:
  void Declare(CLI::App& app);

  // Tells `files` which files the options name.
  void AddInputs(Destinations& files) const;

  // "-" is standard input. `profile` may describe operators, too; empty: none.
  tl::expected<LoadedNetwork, NetworkRefusal> Load(const std::string& path, const std::string& profile) const;

 private:
  tl::expected<LoadedNetwork, NetworkRefusal> LoadOnnx(const std::string& bytes, const std::string& name,
                                                       const std::string& profile) const;

  std::vector<std::string> dims_;
  std::vector<std::string> states_;
  std::string floats_as_;
  std::string ops_file_;
  std::string sizes_;
};

}  // namespace tessera::cli
