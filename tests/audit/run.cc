// SPDX-License-Identifier: Apache-2.0

#include "run.h"

#include <string>
#include <string_view>

#include "tessera/plan/files/plan_files.h"

namespace tessera::audit {

int64_t Tally::Skipped() const {
  int64_t sum = 0;
  for (const auto& [reason, times] : skipped) sum += times;
  return sum;
}

Answer Run::Ask(const PlanRequest& question, double seconds) {
  Answer answer = audit::Ask(question, seconds);
  if (!answer.fault.empty()) {
    ++tally_.statuses["fault"];
    Report({"fault of the program", answer.fault, question, {}, {}});
    return answer;
  }
  ++tally_.statuses[std::string(NameOf(answer.status))];
  if (!answer.plan) return answer;
  ++tally_.plans;
  for (const std::string& note : answer.plan->notes) CountForm(note);
  const std::vector<std::string> faults = FaultsOf(*answer.plan);
  if (!faults.empty()) {
    Report({"plan refused by a checker",
            faults.front(),
            question,
            {{"plan.json", plan::files::WritePlanJson(*answer.plan)}},
            {"tessera check --execute plan.json"}});
  }
  return answer;
}

// Counts plans of networks in another form, by what differs. The note begins with that.
void Run::CountForm(std::string_view note) {
  const size_t reason = note.find(", because ");
  if (reason != std::string_view::npos && note.ends_with("the network of this plan"))
    Count(std::string(note.substr(0, reason)));
}

}  // namespace tessera::audit
