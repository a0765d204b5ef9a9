// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/report/text_table.h"

namespace tessera::api::parts {
namespace {

using base::Printable;
using problem::Status;
using search::reasons::FewestModes;
using search::reasons::ModeId;

base::Diagnostic Fault(const std::string& file, std::string message, std::string hint = "") {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return fault;
}

bool HaveSameModes(const problem::Problem& a, const problem::Problem& b) {
  return std::equal(a.memories.begin(), a.memories.end(), b.memories.begin(), b.memories.end(),
                    [](const problem::Memory& x, const problem::Memory& y) {
                      return std::equal(x.modes.begin(), x.modes.end(), y.modes.begin(),
                                        y.modes.end(),
                                        [](const problem::Mode& m, const problem::Mode& n) {
                                          return m.name == n.name && m.banks == n.banks;
                                        });
                    });
}

// Returns the steps of one subgraph.
problem::Lifespan StepsOf(const plan::Plan& plan, int subgraph) {
  problem::Lifespan steps{0, 0};
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    if (plan.steps[t].subgraph != subgraph) continue;
    if (steps.upper == 0) steps.lower = static_cast<problem::Step>(t);
    steps.upper = static_cast<problem::Step>(t) + 1;
  }
  return steps;
}

search::reasons::ModeQuery AsQuery(problem::Problem problem, problem::Allocation known) {
  // The known addresses are good hints for a placement with fewer modes.
  for (size_t i = 0; i < problem.buffers.size(); ++i) problem.buffers[i].hint = known.offsets[i];
  const problem::Bytes capacity = problem.memories[0].capacity;
  return {std::move(problem), capacity, std::move(known)};
}

std::string ModeName(const problem::Problem& problem, const ModeId& id) {
  const std::string& name =
      problem.memories[static_cast<size_t>(id.memory)].modes[static_cast<size_t>(id.mode)].name;
  return name.empty() ? fmt::format("mode {}", id.mode) : name;
}

std::string Joined(const std::vector<std::string>& names) {
  return Printable(fmt::format("{}", fmt::join(names, ", ")));
}

// Returns the profile with the fewest modes. The Problem has some of its memories, by name.
hw_profiles::Profile Reduced(hw_profiles::Profile profile, const ModeQuestion& question,
                             const FewestModes& found) {
  const problem::Problem reduced = search::reasons::WithModes(question.Problem(), found.kept);
  for (const problem::Memory& memory : reduced.memories) {
    for (hw_profiles::Memory& home : profile.memories) {
      if (home.name != memory.name) continue;
      home.modes = memory.modes;
      home.transitions = memory.transitions;
    }
  }
  return profile;
}

}  // namespace

// A subgraph alone is less constrained than the plan, and is solved quickly. Modes that do not
// suffice for it do not suffice for the plan. So subgraphs come first, and only modes that satisfy
// them all are tried on the whole plan.
std::optional<base::Diagnostic> ModeQuestion::Add(const plan::Plan& plan, const std::string& name) {
  if (!profile_ && !queries_.empty()) return Fault(name, "a plan among Problems");
  if (profile_ &&
      hw_profiles::WriteProfileJson(*profile_) != hw_profiles::WriteProfileJson(plan.profile))
    return Fault(name, "a plan for another profile than the first");
  if (const auto violations = plan::verify::Validate(plan); !violations.empty())
    return Fault(name, "the plan is wrong: " + violations.front().message,
                 "`tessera check` tells all");
  profile_ = plan.profile;
  for (size_t s = 0; s < plan.subgraphs.size(); ++s) {
    const problem::Lifespan steps = StepsOf(plan, static_cast<int>(s));
    problem::draw::Window window =
        problem::draw::CutWindow(plan.problem, plan.allocation, steps.lower, steps.upper);
    if (window.problem.buffers.empty()) continue;
    queries_.push_back(AsQuery(std::move(window.problem), std::move(window.allocation)));
    names_.push_back(fmt::format(
        "{} of {}", report::NameOfInterval(plan.network, plan.subgraphs[s].interval), name));
  }
  queries_.push_back(AsQuery(plan.problem, plan.allocation));
  names_.push_back(name);
  return CheckMemories(name);
}

std::optional<base::Diagnostic> ModeQuestion::Add(problem::Problem problem,
                                                  const std::string& name) {
  if (profile_) return Fault(name, "a Problem among plans");
  const problem::Bytes capacity = problem.memories[0].capacity;
  queries_.push_back({std::move(problem), capacity});
  names_.push_back(name);
  return CheckMemories(name);
}

std::optional<base::Diagnostic> ModeQuestion::CheckMemories(const std::string& name) const {
  if (HaveSameModes(queries_.front().problem, queries_.back().problem)) return std::nullopt;
  return Fault(name, "memories and modes differ from those of the first file");
}

std::optional<base::Diagnostic> ModeQuestion::FindLack() const {
  const std::vector<problem::Memory>& memories = queries_.front().problem.memories;
  if (!std::all_of(memories.begin(), memories.end(),
                   [](const auto& memory) { return memory.modes.empty(); }))
    return std::nullopt;
  return Fault(names_.front(), "no memory has modes");
}

bool IsEnough(const FewestModes& found) {
  return found.status == Status::kOptimal || found.status == Status::kFeasible;
}

std::string WithFewestModes(const ModeQuestion& question, const FewestModes& found) {
  if (question.Profile())
    return hw_profiles::WriteProfileJson(Reduced(*question.Profile(), question, found));
  return problem::files::WriteProblem(search::reasons::WithModes(question.Problem(), found.kept));
}

std::vector<MemoryModes> MemoryModesOf(const problem::Problem& problem, const FewestModes& found) {
  std::vector<MemoryModes> verdicts;
  const std::vector<search::reasons::FreedAccess> freed =
      search::reasons::FindFreedAccesses(problem, found.kept);
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    if (problem.memories[m].modes.empty()) continue;
    MemoryModes& verdict = verdicts.emplace_back();
    verdict.memory = problem.memories[m].name;
    for (size_t k = 0; k < problem.memories[m].modes.size(); ++k) {
      const ModeId mode{static_cast<int>(m), static_cast<int>(k)};
      const bool kept = std::binary_search(found.kept.begin(), found.kept.end(), mode);
      (kept ? verdict.keep : verdict.remove).push_back(ModeName(problem, mode));
    }
    for (const search::reasons::FreedAccess& each : freed) {
      if (static_cast<size_t>(each.memory) == m) verdict.frees.push_back(each);
    }
  }
  return verdicts;
}

std::string BankName(const problem::Problem& problem, const search::reasons::FreedAccess& freed) {
  const std::string& name = problem.memories[static_cast<size_t>(freed.memory)]
                                .banks[static_cast<size_t>(freed.bank)]
                                .name;
  return name.empty() ? fmt::format("bank {}", freed.bank) : name;
}

std::string AccessName(const problem::Permission& access) {
  const std::string kind = access.kind == problem::AccessKind::kRead ? "read" : "write";
  return access.engine.empty() ? kind : access.engine + "." + kind;
}

std::vector<std::string> NamesOf(const problem::Problem& problem,
                                 const std::vector<ModeId>& modes) {
  std::vector<std::string> names;
  names.reserve(modes.size());
  for (const ModeId& mode : modes) names.push_back(ModeName(problem, mode));
  return names;
}

std::string ModesAsJson(const ModeQuestion& question, const FewestModes& found) {
  const problem::Problem& problem = question.Problem();
  nlohmann::ordered_json document;
  document["status"] = NameOf(found.status);
  if (IsEnough(found)) {
    document["memories"] = nlohmann::ordered_json::array();
    for (const MemoryModes& verdict : MemoryModesOf(problem, found)) {
      nlohmann::ordered_json frees = nlohmann::ordered_json::array();
      for (const search::reasons::FreedAccess& each : verdict.frees)
        frees.push_back({{"bank", BankName(problem, each)}, {"access", AccessName(each.access)}});
      document["memories"].push_back({{"memory", verdict.memory},
                                      {"keep", verdict.keep},
                                      {"remove", verdict.remove},
                                      {"frees", std::move(frees)}});
    }
    document["needs"] = nlohmann::ordered_json::array();
    for (const search::reasons::ModeNeed& need : found.needs) {
      document["needs"].push_back({{"what", question.NameOf(need.query)},
                                   {"one_of", NamesOf(problem, need.any_of)},
                                   {"proven", need.proven}});
    }
  }
  document["solves"] = found.solves;
  return base::WriteJson(document);
}

std::string DescribeModes(const ModeQuestion& question, const FewestModes& found) {
  if (found.status == Status::kInfeasible) return "infeasible: not even all modes are enough\n";
  if (found.status == Status::kUnknown)
    return "unknown: not even all modes were decided within the budget\n";
  const problem::Problem& problem = question.Problem();
  std::string text;
  for (const MemoryModes& verdict : MemoryModesOf(problem, found)) {
    text += fmt::format(
        "{}: {} of {} modes are enough{}\n", Printable(verdict.memory), verdict.keep.size(),
        verdict.keep.size() + verdict.remove.size(),
        found.status == Status::kOptimal ? ", fewer are proven not to be" : "; fewer may be");
    text += fmt::format("  keep    {}\n", Joined(verdict.keep));
    if (!verdict.remove.empty()) text += fmt::format("  remove  {}\n", Joined(verdict.remove));
    for (const search::reasons::FreedAccess& each : verdict.frees)
      text += fmt::format("  frees   {} of {}\n", Printable(AccessName(each.access)),
                          Printable(BankName(problem, each)));
  }
  for (const search::reasons::ModeNeed& need : found.needs) {
    text += fmt::format("{} {} {}{}\n", Printable(question.NameOf(need.query)),
                        need.any_of.size() == 1 ? "needs" : "needs one of",
                        Joined(NamesOf(problem, need.any_of)),
                        need.proven ? "" : ", as far as is known");
  }
  return text;
}

}  // namespace tessera::api::parts
