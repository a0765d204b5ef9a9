#include "tessera/cli/plan_outputs.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tessera/cli/report/report.h"
#include "tessera/plan/header.h"
#include "tessera/plan/json_write.h"
#include "tessera/problem/svg.h"

namespace tessera::cli {

namespace {

std::string RenderAs(const std::string& suffix, const plan::Plan& plan) {
  if (suffix == ".json") return plan::WritePlanJson(plan);
  if (suffix == ".html") return WriteReport(plan);
  return problem::WriteSvg(plan.problem, plan.allocation, plan.problem.memories[0].capacity);
}

}  // namespace

void PlanOutputs::Declare(CLI::App& app) {
  app.add_option("--output", paths,
                 "Also write the plan here: .json, its memory map as .svg, or a report as .html");
  app.add_option("--emit-header", header,
                 "Also write offsets, sizes, tiles and modes as a header for C99 and C++")
      ->type_name("FILE");
}

bool PlanOutputs::Check(Console& console) const {
  for (const std::string& path : paths) {
    if (SuffixOf(path) == ".json" || SuffixOf(path) == ".svg" || SuffixOf(path) == ".html") continue;
    console.Note(fmt::format("--output {}: expected a name that ends in .json, .svg or .html", path));
    return false;
  }
  return true;
}

void PlanOutputs::AddTo(Destinations& files) const {
  for (const std::string& path : paths) files.Write("--output", path);
  files.Write("--emit-header", header);
}

std::vector<Output> PlanOutputs::Render(const plan::Plan& plan) const {
  std::vector<Output> files;
  for (const std::string& path : paths) {
    files.push_back({path, RenderAs(SuffixOf(path), plan)});
  }
  if (!header.empty()) files.push_back({header, plan::WriteHeader(plan)});
  return files;
}

}  // namespace tessera::cli
