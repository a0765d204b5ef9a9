#include "tessera/cli/inputs.h"

#include "tessera/cli/files.h"
#include "tessera/graph/yaml.h"
#include "tessera/hw_profiles/reader.h"
#include "tessera/problem/csv.h"

namespace tessera::cli {
namespace {

bool LooksLikeJson(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  return first != std::string::npos && text[first] == '{';
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

base::Expected<graph::Graph> LoadNetwork(const std::string& path) {
  const base::Expected<std::string> text = ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return graph::ReadNetwork(*text, path == "-" ? "standard input" : path);
}

base::Expected<hw_profiles::Profile> LoadProfile(const std::string& path) {
  base::Expected<std::string> text = ReadInput(path);
  if (!text) return tl::unexpected(text.error());
  return hw_profiles::ReadProfile(*std::move(text), path,
                                  [](std::string_view name) { return ReadInput(std::string(name)); });
}

}  // namespace tessera::cli
