// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

// The structure of the source tree: which file includes which, and the namespace of each file.
// docs/architecture.md states the rules.
namespace tessera::architecture {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

// Lowest level first. A module includes itself and modules of lower levels.
const std::map<std::string, int>& Levels() {
  static const std::map<std::string, int> levels = {
      {"base", 0}, {"problem", 1}, {"hw_profiles", 2}, {"graph", 2},
      {"plan", 3}, {"encoder", 3}, {"search", 4},      {"report", 5},
      {"api", 6},  {"explore", 7}, {"serve", 7},       {"cli", 8}};
  return levels;
}

// `export` is a keyword.
std::string NamespaceOf(const fs::path& folder) {
  std::string name = "tessera";
  for (const fs::path& part : folder) name += "::" + (part == "export" ? "exports" : part.string());
  return name;
}

struct Source {
  std::string path;  // from the root
  std::string text;
  std::vector<std::string> includes;  // of ours, from the root
};

using Links = std::map<std::string, std::set<std::string>>;

std::vector<Source> ReadSources() {
  const fs::path root = SOURCE_FOLDER;
  const std::regex include("#include \"tessera/([^\"]+)\"");
  std::vector<Source> sources;
  for (const auto& [module, level] : Levels()) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / module)) {
      const std::string extension = entry.path().extension();
      if (extension != ".h" && extension != ".cc") continue;
      std::ostringstream text;
      text << std::ifstream(entry.path()).rdbuf();
      Source& source =
          sources.emplace_back(Source{entry.path().lexically_relative(root), text.str(), {}});
      for (std::sregex_iterator at(source.text.begin(), source.text.end(), include), end; at != end;
           ++at)
        source.includes.push_back((*at)[1]);
    }
  }
  return sources;
}

// The strongly connected parts, in groups of one cycle each. The function repeatedly removes nodes
// without successors, then nodes without predecessors; the nodes that remain are on cycles.
std::set<std::string> OnCycles(Links links) {
  const auto take_away = [&links](auto leads_nowhere) {
    for (bool changed = true; changed;) {
      changed = false;
      for (auto at = links.begin(); at != links.end();) {
        if (!leads_nowhere(*at)) {
          ++at;
          continue;
        }
        at = links.erase(at);
        changed = true;
      }
    }
  };
  take_away([&links](const auto& node) {
    return std::none_of(node.second.begin(), node.second.end(),
                        [&links](const std::string& next) { return links.contains(next); });
  });
  take_away([&links](const auto& node) {
    return std::none_of(links.begin(), links.end(),
                        [&node](const auto& other) { return other.second.contains(node.first); });
  });
  std::set<std::string> left;
  for (const auto& [node, next] : links) left.insert(node);
  return left;
}

TEST(OnCycles, FindsACycleAndNothingAroundIt) {
  EXPECT_THAT(OnCycles({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b", "d"}}, {"d", {}}}),
              testing::ElementsAre("b", "c"));
  EXPECT_THAT(OnCycles({{"a", {"b", "c"}}, {"b", {"c"}}, {"c", {}}}), IsEmpty());
}

TEST(Sources, HaveNoIncludeCycleOfFiles) {
  Links links;
  for (const Source& source : ReadSources())
    links[source.path].insert(source.includes.begin(), source.includes.end());
  ASSERT_GT(links.size(), 100);
  EXPECT_THAT(OnCycles(links), IsEmpty());
}

TEST(Sources, HaveNoIncludeCycleOfFolders) {
  Links links;
  for (const Source& source : ReadSources()) {
    const std::string folder = fs::path(source.path).parent_path();
    links[folder];
    for (const std::string& include : source.includes) {
      const std::string other = fs::path(include).parent_path();
      if (other != folder) links[folder].insert(other);
    }
  }
  ASSERT_GT(links.size(), 10);
  EXPECT_THAT(OnCycles(links), IsEmpty());
}

TEST(Sources, IncludeModulesBelowOnly) {
  for (const Source& source : ReadSources()) {
    const std::string module = fs::path(source.path).begin()->string();
    for (const std::string& include : source.includes) {
      const std::string other = fs::path(include).begin()->string();
      ASSERT_TRUE(Levels().contains(other)) << source.path << " includes " << include;
      EXPECT_TRUE(module == other || Levels().at(other) < Levels().at(module))
          << source.path << " includes " << include;
    }
  }
}

// The command uses the library as its users do, with public headers alone, and base/ for texts and
// files. These commands, and what they share, still include private headers; no file may be added.
TEST(Sources, OfTheCommandUseThePublicInterface) {
  const std::set<std::string> not_yet = {"alloc.cc",
                                         "certificate_folders.cc",
                                         "certificate_folders.h",
                                         "check.cc",
                                         "common_options.cc",
                                         "common_options.h",
                                         "decode.cc",
                                         "encode.cc",
                                         "eval.cc",
                                         "explore.cc",
                                         "explore_parts.cc",
                                         "explore_parts.h",
                                         "inputs.cc",
                                         "inputs.h",
                                         "memory_options.cc",
                                         "memory_options.h",

                                         "network_options.cc",
                                         "network_options.h",
                                         "outputs.cc",
                                         "outputs.h",
                                         "plan.cc",
                                         "plan_options.cc",
                                         "plan_options.h",
                                         "self_description.cc",
                                         "serve.cc",
                                         "show.cc",
                                         "tile.cc"};
  std::set<std::string> found;
  for (const Source& source : ReadSources()) {
    if (!source.path.starts_with("cli/")) continue;
    for (const std::string& include : source.includes) {
      if (!include.starts_with("cli/") && !include.starts_with("base/"))
        found.insert(source.path.substr(4));
    }
  }
  EXPECT_EQ(found, not_yet);
}

TEST(Sources, IncludeFilesThatExist) {
  std::set<std::string> paths;
  const std::vector<Source> sources = ReadSources();
  for (const Source& source : sources) paths.insert(source.path);
  for (const Source& source : sources) {
    for (const std::string& include : source.includes)
      EXPECT_TRUE(paths.contains(include)) << source.path << " includes " << include;
  }
}

// The verifier would prove nothing if it took regions from the closed forms that the search uses.
TEST(Sources, HaveAtMost400Lines) {
  std::vector<std::string> longer;
  for (const Source& source : ReadSources()) {
    if (std::count(source.text.begin(), source.text.end(), '\n') > 400)
      longer.push_back(source.path);
  }
  EXPECT_THAT(longer, IsEmpty());
}

TEST(Sources, OfPlansUseNoClosedFormsOfRegions) {
  const std::set<std::string> closed_forms = {"graph/regions.h", "graph/ops/axis_map.h",
                                              "graph/ops/windows.h"};
  for (const Source& source : ReadSources()) {
    if (!source.path.starts_with("plan/")) continue;
    for (const std::string& include : source.includes) {
      EXPECT_TRUE(!closed_forms.contains(include) && !include.starts_with("graph/tiling/"))
          << source.path << " includes " << include;
    }
  }
}

// Exempt are forward declarations of other namespaces, and code that has no namespace: main, and C
// interfaces. Installed headers are in the namespace of the interface's version.
TEST(Sources, AreInTheNamespaceOfTheirFolder) {
  int found = 0;
  for (const Source& source : ReadSources()) {
    const std::string wanted =
        "namespace " + NamespaceOf(fs::path(source.path).parent_path()) + " {\n";
    if (source.text.find("\nnamespace tessera") == std::string::npos) continue;
    if (source.path.starts_with("api/") &&
        source.text.find("\nnamespace tessera {\ninline namespace v0 {\n") != std::string::npos)
      continue;
    EXPECT_NE(source.text.find(wanted), std::string::npos) << source.path << " has no " << wanted;
    ++found;
  }
  EXPECT_GT(found, 100);
}

std::string TextOf(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(Sources, StateTheirLicence) {
  const std::string line = "SPDX-License-Identifier: Apache-2.0";
  const std::set<std::string> extensions = {".h", ".cc", ".c", ".cpp", ".py", ".sh", ".cmake"};
  int found = 0;
  for (const char* folder : {"api", "base", "bench", "cli", "cmake", "encoder", "examples",
                             "explore", "graph", "hw_profiles", "integrations", "plan", "problem",
                             "python", "report", "scripts", "search", "serve", "tests"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(SOURCE_FOLDER) / folder)) {
      const bool is_script = std::string_view(folder) == "scripts" && entry.is_regular_file();
      if (!is_script && !extensions.contains(entry.path().extension()) &&
          entry.path().filename() != "CMakeLists.txt")
        continue;
      const std::string text = TextOf(entry.path());
      if (text.empty()) continue;
      EXPECT_TRUE(text.starts_with("// " + line + "\n") || text.starts_with("# " + line + "\n") ||
                  (text.starts_with("#!") && text.find('\n') + 1 == text.find("# " + line)))
          << entry.path() << " does not begin with " << line;
      ++found;
    }
  }
  EXPECT_GT(found, 500);
}

// docs/licences.md names every package that a build installs, and every profile of an accelerator.
TEST(Licences, AreOfEveryPackageAndProfile) {
  const fs::path root = SOURCE_FOLDER;
  const std::string page = TextOf(root / "docs/licences.md");
  const std::string script = TextOf(root / "scripts/install-packages");
  const std::regex package("\\b(lib[a-z0-9-]+-dev|python3-[a-z]+)\\b");
  int found = 0;
  for (std::sregex_iterator at(script.begin(), script.end(), package), end; at != end; ++at) {
    const std::string name = (*at)[1];
    // Parts of Python and of LLVM itself.
    if (std::set<std::string>{"python3-dev", "python3-pip", "python3-setuptools", "python3-wheel",
                              "python3-venv"}
            .contains(name))
      continue;
    EXPECT_NE(page.find(name), std::string::npos) << name;
    ++found;
  }
  EXPECT_GT(found, 15);
  for (const auto& entry : fs::directory_iterator(root / "hw_profiles")) {
    if (entry.path().extension() != ".yaml") continue;
    EXPECT_NE(page.find('`' + entry.path().stem().string() + '`'), std::string::npos)
        << entry.path();
  }
}

}  // namespace
}  // namespace tessera::architecture
