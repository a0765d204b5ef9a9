// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>
#include <vector>

#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/plan.h"

// The header holds only macros and static tables of integers and strings. Unused entries cost
// nothing, and the header compiles as C and as C++. Identifiers are derived from ids, which may
// contain any characters. Characters that are not letters or digits become one '_', and the second
// id with the same identifier gets a number.
namespace tessera::plan::files {
namespace {

std::string AsIdentifier(std::string_view id) {
  std::string name;
  for (const char c : id) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (plain) name += c;
    if (!plain && !name.empty() && name.back() != '_') name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name.empty() ? "unnamed" : name;
}

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

// Gives each id a unique name.
class Names {
 public:
  std::string For(std::string_view id) {
    const std::string plain = Upper(AsIdentifier(id));
    std::string name = plain;
    for (int number = 2; !taken_.insert(name).second; ++number)
      name = fmt::format("{}_{}", plain, number);
    return name;
  }

 private:
  std::set<std::string> taken_;
};

// A C string literal. Octal escapes end after three digits, so any character may follow them. They
// also break up trigraphs.
std::string Quoted(std::string_view text) {
  std::string literal = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\' && c != '?';
    literal += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return literal + '"';
}

class HeaderWriter {
 public:
  explicit HeaderWriter(const Plan& plan)
      : plan_(plan),
        prefix_("TSR_" + Upper(AsIdentifier(plan.network.name))),
        table_(AsIdentifier(plan.network.name)) {
    table_ = "tsr_" + table_;
  }

  std::string Run() {
    Add("/* Made by tessera {} from a plan of {} on {}. Offsets and sizes are bytes. */\n",
        AsIdentifier(plan_.version), AsIdentifier(plan_.network.name),
        AsIdentifier(plan_.profile.name));
    Add("#ifndef {0}_H\n#define {0}_H\n\n#include <stdint.h>\n\n", prefix_);
    Add("#define {}_PEAK_BYTES INT64_C({})\n", prefix_, plan_.totals.peak_bytes);
    AddBuffers();
    AddHomes();
    AddSubgraphs();
    AddSteps();
    Add("\n#endif\n");
    return std::move(text_);
  }

 private:
  template <typename... Arguments>
  void Add(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Arguments>(arguments)...);
  }

  // A table with its length. C has no empty arrays.
  void AddTable(std::string_view name, std::string_view members,
                const std::vector<std::string>& rows) {
    Add("\n#define {}_{} {}\n", prefix_, Upper(std::string(name)), rows.size());
    if (rows.empty()) return;
    Add("static const struct {{\n{}}} {}_{}[{}] = {{\n", members, table_, name, rows.size());
    for (const std::string& row : rows) Add("  {{{}}},\n", row);
    Add("}};\n");
  }

  void AddPlace(std::string_view kind, const std::string& name, problem::Bytes offset,
                problem::Bytes size) {
    Add("#define {0}_{1}_{2}_OFFSET INT64_C({3})\n#define {0}_{1}_{2}_SIZE INT64_C({4})\n", prefix_,
        kind, name, offset, size);
  }

  void AddBuffers() {
    Names names;
    std::vector<std::string> rows;
    Add("\n/* Buffers in the tile memory. */\n");
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
      const problem::Buffer& buffer = plan_.problem.buffers[i];
      const problem::Bytes offset = plan_.allocation.offsets[i];
      AddPlace("BUFFER", names.For(buffer.id), offset, buffer.size);
      rows.push_back(fmt::format("{}, INT64_C({}), INT64_C({}), {}", Quoted(buffer.id), offset,
                                 buffer.size, plan_.buffers[i].subgraph));
    }
    AddTable("buffers",
             "  const char *name;\n  int64_t offset;\n  int64_t size;\n  int32_t subgraph; /* -1: "
             "all */\n",
             rows);
  }

  void AddHomes() {
    Names names;
    std::vector<std::string> rows;
    Add("\n/* Tensors in other memories. */\n");
    for (const Home& home : plan_.homes) {
      const std::string& memory = plan_.profile.memories[static_cast<size_t>(home.memory)].name;
      for (size_t i = 0; i < home.tensors.size(); ++i) {
        const problem::Buffer& buffer = home.problem.buffers[i];
        const problem::Bytes offset = home.allocation.offsets[i];
        AddPlace("TENSOR", names.For(buffer.id), offset, buffer.size);
        rows.push_back(fmt::format("{}, {}, INT64_C({}), INT64_C({})", Quoted(buffer.id),
                                   Quoted(memory), offset, buffer.size));
      }
    }
    AddTable("tensors",
             "  const char *name;\n  const char *memory;\n  int64_t offset;\n  int64_t size;\n",
             rows);
  }

  void AddSubgraphs() {
    size_t axes = 1;
    for (const Subgraph& subgraph : plan_.subgraphs) axes = std::max(axes, subgraph.tile.size());
    std::vector<std::string> rows;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const Subgraph& subgraph = plan_.subgraphs[i];
      const auto mine = [&](const StepUse& step) { return step.subgraph == static_cast<int>(i); };
      const auto first = std::find_if(plan_.steps.begin(), plan_.steps.end(), mine);
      rows.push_back(fmt::format("{}, {}, {}, {{{}}}, INT64_C({}), {}, {}", subgraph.interval.first,
                                 subgraph.interval.last, subgraph.tile.size(),
                                 fmt::join(subgraph.tile, ", "), subgraph.tiles,
                                 first - plan_.steps.begin(),
                                 std::count_if(plan_.steps.begin(), plan_.steps.end(), mine)));
    }
    AddTable("subgraphs",
             fmt::format("  int32_t first_operator;\n  int32_t last_operator;\n  int32_t axes;\n  "
                         "int64_t tile[{}];\n"
                         "  int64_t tiles;\n  int32_t first_step;\n  int32_t steps;\n",
                         axes),
             rows);
    std::vector<std::string> operators;
    for (const graph::Operator& op : plan_.network.operators) operators.push_back(Quoted(op.id));
    AddTable("operators", "  const char *name;\n", operators);
  }

  void AddSteps() {
    std::vector<std::string> modes;
    for (const problem::Mode& mode : plan_.problem.memories.front().modes)
      modes.push_back(Quoted(mode.name));
    AddTable("modes", "  const char *name;\n", modes);
    std::vector<std::string> rows;
    const problem::Step scheduled = problem::Horizon(plan_.problem).lower;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const StepUse& step = plan_.steps[i];
      rows.push_back(fmt::format("{}, {}, {}, {}, {}", Quoted(WordFor(step.kind, kStepKindNames)),
                                 step.subgraph, step.phase, step.op,
                                 ModeAt(static_cast<problem::Step>(i) - scheduled)));
    }
    AddTable("steps",
             "  const char *kind;\n  int32_t subgraph;\n  int32_t phase;\n  int32_t op;   /* -1: "
             "none */\n"
             "  int32_t mode; /* -1: none */\n",
             rows);
  }

  int ModeAt(problem::Step at) const {
    if (plan_.allocation.modes.empty()) return -1;
    const problem::ModeSchedule& schedule = plan_.allocation.modes.front();
    return at >= 0 && at < static_cast<problem::Step>(schedule.size())
               ? schedule[static_cast<size_t>(at)]
               : -1;
  }

  const Plan& plan_;
  std::string prefix_;
  std::string table_;
  std::string text_;
};

}  // namespace

std::string WriteHeader(const Plan& plan) { return HeaderWriter(plan).Run(); }

}  // namespace tessera::plan::files
