#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/destinations.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/json.h"

// The files that commands take, read and understood.
namespace tessera::cli {

// CSV or JSON, told apart by the first character that is not blank.
base::Expected<problem::ProblemDocument> LoadProblem(const std::string& path);

// The index of the rung of that name in the document's ladder. `path` is for messages.
base::Expected<size_t> FindRung(const problem::ProblemDocument& document, const std::string& name,
                                const std::string& path);

// "rows=1, rows=2".
std::string NamesOfRungs(const problem::Ladder& ladder);

// With what it extends, looked up beside the file that says so.
base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path);

// Tells `files` that the call reads this profile and what it extends.
void AddProfile(Destinations& files, const std::string& path);

// Name and content of a profile's file and of each file that it extends, the profile first.
base::Expected<std::vector<std::pair<std::string, std::string>>> ReadProfileTexts(const std::string& path);

}  // namespace tessera::cli
