#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/json.h"

// The files that commands take, read and understood.
namespace tessera::cli {

// CSV or JSON, told apart by the first character that is not blank.
base::Expected<problem::ProblemDocument> LoadProblem(const std::string& path);

base::Expected<graph::Graph> LoadNetwork(const std::string& path);

// With what it extends, looked up beside the file that says so.
base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path);

}  // namespace tessera::cli
