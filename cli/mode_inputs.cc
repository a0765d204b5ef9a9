#include "tessera/cli/mode_inputs.h"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/cli/answers.h"
#include "tessera/cli/files.h"
#include "tessera/hw_profiles/writer.h"
#include "tessera/plan/json_read.h"
#include "tessera/plan/validator.h"
#include "tessera/problem/json.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/window.h"

// A subgraph by itself asks less than the plan: what it refuses, the plan refuses, and it is soon solved. So subgraphs come first, and
// only modes that satisfy them all are tried on the whole.
namespace tessera::cli {
namespace {

base::Unexpected Fault(const std::string& file, std::string message, std::string hint = "") {
  base::Diagnostic fault;
  fault.file = file;
  fault.message = std::move(message);
  fault.hint = std::move(hint);
  return base::Unexpected(std::move(fault));
}

bool HaveSameModes(const problem::Problem& a, const problem::Problem& b) {
  return std::equal(a.memories.begin(), a.memories.end(), b.memories.begin(), b.memories.end(),
                    [](const problem::Memory& x, const problem::Memory& y) {
                      return std::equal(x.modes.begin(), x.modes.end(), y.modes.begin(), y.modes.end(),
                                        [](const problem::Mode& m, const problem::Mode& n) {
                                          return m.name == n.name && m.banks == n.banks;
                                        });
                    });
}

// The steps of one subgraph.
problem::Lifespan StepsOf(const plan::Plan& plan, int subgraph) {
  problem::Lifespan steps{0, 0};
  for (size_t t = 0; t < plan.steps.size(); ++t) {
    if (plan.steps[t].subgraph != subgraph) continue;
    if (steps.upper == 0) steps.lower = static_cast<problem::Step>(t);
    steps.upper = static_cast<problem::Step>(t) + 1;
  }
  return steps;
}

std::string NameOf(const plan::Plan& plan, const plan::Subgraph& subgraph) {
  const auto id = [&](int op) { return plan.network.operators[static_cast<size_t>(op)].id; };
  const auto [first, last] = subgraph.interval;
  return first == last ? id(first) : id(first) + ".." + id(last);
}

encoder::ModeQuery AsQuery(problem::Problem problem, problem::Allocation known) {
  // Where everything lies is a good guess where it may lie with fewer modes.
  for (size_t i = 0; i < problem.buffers.size(); ++i) problem.buffers[i].hint = known.offsets[i];
  const problem::Bytes capacity = problem.memories[0].capacity;
  return {std::move(problem), capacity, std::move(known)};
}

void AddPlan(const plan::Plan& plan, const std::string& file, ModeInputs& inputs) {
  for (size_t s = 0; s < plan.subgraphs.size(); ++s) {
    const problem::Lifespan steps = StepsOf(plan, static_cast<int>(s));
    problem::Window window = CutWindow(plan.problem, plan.allocation, steps.lower, steps.upper);
    if (window.problem.buffers.empty()) continue;
    inputs.queries.push_back(AsQuery(std::move(window.problem), std::move(window.allocation)));
    inputs.names.push_back(fmt::format("{} of {}", NameOf(plan, plan.subgraphs[s]), file));
  }
  inputs.queries.push_back(AsQuery(plan.problem, plan.allocation));
  inputs.names.push_back(file);
}

}  // namespace

base::Expected<ModeInputs> LoadModeInputs(const std::vector<std::string>& files) {
  ModeInputs inputs;
  for (const std::string& file : files) {
    const base::Expected<std::string> text = ReadInput(file);
    if (!text) return tl::unexpected(text.error());
    const base::Expected<std::string> format = FormatOf(*text, file);
    if (!format) return tl::unexpected(format.error());
    if (*format != "tessera-plan") {
      base::Expected<problem::ProblemDocument> document = problem::ReadProblem(*text, file);
      if (!document) return tl::unexpected(document.error());
      if (inputs.profile) return Fault(file, "a Problem among plans");
      const problem::Bytes capacity = document->problem.memories[0].capacity;
      inputs.queries.push_back({std::move(document->problem), capacity});
      inputs.names.push_back(file);
    } else {
      const base::Expected<plan::Plan> plan = plan::ReadPlanJson(*text, file);
      if (!plan) return tl::unexpected(plan.error());
      if (!inputs.profile && !inputs.queries.empty()) return Fault(file, "a plan among Problems");
      if (inputs.profile &&
          hw_profiles::WriteProfileJson(*inputs.profile) != hw_profiles::WriteProfileJson(plan->profile))
        return Fault(file, "a plan for another profile than the first");
      if (const auto violations = plan::Validate(*plan); !violations.empty())
        return Fault(file, "the plan is wrong: " + violations.front().message, "`tessera check` tells all");
      inputs.profile = plan->profile;
      AddPlan(*plan, file, inputs);
    }
    if (!HaveSameModes(inputs.queries.front().problem, inputs.queries.back().problem))
      return Fault(file, "memories and modes differ from those of the first file");
  }
  const std::vector<problem::Memory>& memories = inputs.queries.front().problem.memories;
  if (std::all_of(memories.begin(), memories.end(), [](const auto& memory) { return memory.modes.empty(); }))
    return Fault(files.front(), "no memory has modes");
  return inputs;
}

}  // namespace tessera::cli
