#pragma once

#include <string>
#include <vector>

#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/files.h"
#include "tessera/plan/plan.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The files that a command with a plan for an answer writes.
struct PlanOutputs {
  void Declare(CLI::App& app);

  // Whether the names make sense; says so on the console where one does not.
  bool Check(Console& console) const;

  void AddTo(Destinations& files) const;  // all of them

  // What the files get, not written yet.
  std::vector<Output> Render(const plan::Plan& plan) const;

  std::vector<std::string> paths;  // .json, .svg or .html
  std::string header;              // C; empty: none
};

}  // namespace tessera::cli
