#include "tessera/cli/inputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "tessera/base/suggest.h"
#include "tessera/cli/files.h"
#include "tessera/hw_profiles/reader.h"
#include "tessera/problem/csv.h"

namespace tessera::cli {
namespace {

bool LooksLikeJson(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string::npos && text[first] == '{';
}

std::vector<std::string_view> ViewNames(const problem::Ladder& ladder) {
  std::vector<std::string_view> names;
  for (const problem::Rung& rung : ladder.rungs) names.push_back(rung.name);
  return names;
}

}  // namespace

base::Expected<problem::ProblemDocument> LoadProblem(const std::string& path) {
  const base::Expected<std::string> text = ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  const std::string name = path == "-" ? "standard input" : path;
  if (LooksLikeJson(*text)) return problem::ReadProblem(*text, name);
  base::Expected<problem::Problem> problem = problem::ReadCsv(*text, name);
  if (!problem) return tl::unexpected(problem.error());
  return problem::ProblemDocument{.problem = *std::move(problem), .ladder = std::nullopt};
}

base::Expected<size_t> FindRung(const problem::ProblemDocument& document, const std::string& name,
                                const std::string& path) {
  const std::vector<std::string_view> names =
      document.ladder ? ViewNames(*document.ladder) : std::vector<std::string_view>();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  base::Diagnostic fault;
  fault.file = path;
  fault.message = fmt::format("there is no rung '{}'", name);
  fault.expected =
      names.empty() ? "no --rung, as the file has no ladder" : "--rung with one of " + base::Join(names);
  fault.hint = base::DidYouMean(name, names);
  return tl::unexpected(std::move(fault));
}

std::string NamesOfRungs(const problem::Ladder& ladder) { return base::Join(ViewNames(ladder)); }

base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path) {
  base::Expected<std::string> text = ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return hw_profiles::ReadProfile(*std::move(text), path,
                                  [](std::string_view name) { return ReadInput(std::string(name)); });
}

void AddProfile(Destinations& files, const std::string& path) {
  files.Read("--hw", path);
  // A pipe can be read only once. The load of the profile reports what is wrong with it.
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return;
  const auto texts = ReadProfileTexts(path);
  if (!texts) return;
  for (const auto& [name, text] : *texts) files.Read("--hw", name);
}

base::Expected<std::vector<std::pair<std::string, std::string>>> ReadProfileTexts(const std::string& path) {
  base::Expected<std::string> text = ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  std::vector<std::pair<std::string, std::string>> texts = {{path, *text}};
  const base::Expected<hw_profiles::Profile> profile =
      hw_profiles::ReadProfile(*std::move(text), path, [&texts](std::string_view name) {
        base::Expected<std::string> extended = ReadInput(std::string(name));
        if (extended) texts.emplace_back(name, *extended);
        return extended;
      });
  if (!profile) return tl::unexpected(profile.error());
  return texts;
}

}  // namespace tessera::cli
