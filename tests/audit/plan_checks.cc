// SPDX-License-Identifier: Apache-2.0

#include <sstream>

#include "homes_rule.h"
#include "run.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/cost/plan_cost.h"

namespace tessera::audit {
namespace {

// The first line in which two texts differ.
std::string FirstDifference(const std::string& a, const std::string& b) {
  std::istringstream lines(a);
  std::istringstream others(b);
  std::string line;
  std::string other;
  while (std::getline(lines, line) && std::getline(others, other) && line == other) continue;
  return "'" + line + "' becomes '" + other + "'";
}

}  // namespace

std::vector<std::string> FaultsOf(const plan::Plan& plan) {
  std::vector<std::string> faults;
  for (const plan::verify::Violation& violation : plan::verify::Validate(plan))
    faults.push_back(violation.message);
  if (!faults.empty()) return faults;
  const std::vector<int> homes = HomesByRule(plan.network, plan.profile);
  for (size_t i = 0; i < homes.size(); ++i) {
    if (StatedHome(plan.network.tensors[i], plan.profile) != homes[i])
      faults.push_back("tensor '" + plan.network.tensors[i].id +
                       "' is not in the home that the rule gives it");
  }
  for (const plan::verify::Violation& violation : search::cost::FindMispriced(plan))
    faults.push_back(violation.message);

  const std::string json = plan::files::WritePlanJson(plan);
  const base::Expected<plan::Plan> read = plan::files::ReadPlanJson(json, "plan.json");
  if (!read) {
    faults.push_back("plan.json is refused: " + base::Format(read.error()));
  } else if (const std::string again = plan::files::WritePlanJson(*read); again != json) {
    faults.push_back("plan.json changes on its way through the reader: " +
                     FirstDifference(json, again));
  } else {
    for (const plan::verify::Violation& violation : plan::verify::Validate(*read))
      faults.push_back("as plan.json: " + violation.message);
  }

  const plan::lowering::Report executed = plan::lowering::Execute(plan);
  const bool is_encoded = executed.obstacle.find("stored_bytes") != std::string::npos;
  if (!executed.obstacle.empty() && !is_encoded)
    faults.push_back("execution: " + executed.obstacle);
  for (const plan::lowering::Finding& finding : executed.findings)
    faults.push_back("execution: " + finding.message);

  const base::Expected<plan::Program> lowering = plan::lowering::Lower(plan);
  if (!lowering) {
    const std::string& message = lowering.error().message;
    const bool is_known = message.find("elements of four bits") != std::string::npos || is_encoded;
    if (!is_known) faults.push_back("lowering: " + lowering.error().message);
    return faults;
  }
  plan::Plan lowered = plan;
  lowered.lowering = *lowering;
  const plan::lowering::Report interpreted = plan::lowering::Interpret(lowered, 1);
  if (!interpreted.obstacle.empty()) faults.push_back("lowering: " + interpreted.obstacle);
  for (const plan::lowering::Finding& finding : interpreted.findings)
    faults.push_back("lowering: " + finding.message);
  return faults;
}

plan::files::Draft DraftOf(const plan::Plan& plan) {
  plan::files::Draft draft;
  draft.network = plan.network;
  draft.profile = plan.profile;
  draft.objective = plan.objective;
  draft.seed = plan.seed;
  draft.subgraphs = plan.subgraphs;
  draft.kept = plan.kept;
  return draft;
}

}  // namespace tessera::audit
