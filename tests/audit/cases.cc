// SPDX-License-Identifier: Apache-2.0

#include "cases.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/files/plan_files.h"

namespace tessera::audit {
namespace {

void Write(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file) << text;
}

}  // namespace

void WriteCase(const Finding& finding, const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const PlanRequest& question = finding.question;
  Write(folder / "network.yaml", graph::import::yaml::WriteNetworkJson(question.network));
  Write(folder / "profile.yaml", hw_profiles::WriteProfileJson(question.profile));
  if (question.previous) Write(folder / "old.json", plan::files::WritePlanJson(*question.previous));
  if (!question.constraints.empty()) {
    plan::Plan plan;
    plan.network = question.network;
    plan.profile = question.profile;
    plan.constraints = question.constraints;
    Write(folder / "constraints.yaml", plan::files::ConstraintsToJson(plan).dump(1));
  }
  for (const auto& [file, text] : finding.files) Write(folder / file, text);
  std::string shell = "#!/bin/sh\n# " + finding.kind + ": ";
  for (const char c : finding.what) {
    shell += c;
    if (c == '\n') shell += "# ";
  }
  shell += "\n" + CommandOf(question) + "\n";
  for (const std::string& command : finding.commands) shell += command + "\n";
  Write(folder / "command.sh", shell);
}

}  // namespace tessera::audit
