// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/request.h"

#include <tessera/tessera.h>

#include <utility>
#include <vector>

#include "tessera/explore/adaptive.h"
#include "tessera/explore/analyses.h"
#include "tessera/explore/area.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/output.h"
#include "tessera/explore/relax.h"

namespace tessera::explore {
namespace {

// Returns a digest that distinguishes requests about one specification.
std::string DigestOfRequest(const Spec& spec, const Request& request,
                            const std::vector<Point>& points, const std::vector<double>& areas) {
  std::string digest = DigestOf(spec, points, areas, request.plan_all);
  Json rules = Json::array();
  for (const AreaRule& rule : spec.area.Rules()) {
    const bool is_command = rule.estimator != nullptr;
    rules.push_back({rule.part, rule.conditions,
                     is_command ? "command: " + rule.estimator->Command() : rule.mm2.Text()});
  }
  Json bases = Json::array();
  for (const BaseProfile& base : spec.space.Bases()) bases.push_back(base.document);
  Json more = Json::object();
  if (request.relax) more["relax"] = {bases, rules};
  if (!request.least.empty()) more["least"] = {bases, request.least};
  if (request.marginal) more["marginal"] = true;
  if (request.uncertainty) more["uncertainty"] = {*request.uncertainty, rules};
  if (request.adaptive) more["adaptive"] = *request.adaptive;
  return more.empty() ? digest : explore::DigestOf(digest + more.dump());
}

base::Expected<std::optional<Json>> AnswerFronts(const Spec& spec, const Store& store,
                                                 const Request& request,
                                                 const RunOptions& options) {
  RunOptions run = options;
  run.plan_all = request.plan_all;
  const auto found = request.adaptive ? ExploreAdaptively(spec, store, *request.adaptive, run)
                                      : Explore(spec, store, run);
  if (!found) return base::Unexpected(found.error());
  if (!*found) return std::optional<Json>();
  Json document = AsDocument(spec, **found);
  if (request.adaptive) document["adaptive"] = GapJson(spec, **found, *request.adaptive);
  if (request.marginal) {
    auto marginal = FindMarginals(spec, store, **found, options);
    if (!marginal || !*marginal) return marginal;
    document["marginal"] = **std::move(marginal);
  }
  if (request.uncertainty) {
    auto survivors = FindSurvivors(spec, **found, *request.uncertainty);
    if (!survivors) return base::Unexpected(survivors.error());
    document["uncertainty"] = *std::move(survivors);
  }
  return std::optional(std::move(document));
}

// Returns a diagnostic about parts that the request needs and the specification lacks.
std::optional<base::Diagnostic> FaultFor(const Spec& spec, const Request& request) {
  base::Diagnostic fault;
  fault.file = spec.file;
  if ((request.marginal || request.uncertainty) && !spec.wants_network_fronts) {
    fault.message =
        "steps and uncertainties are about the fronts of networks, and only that of "
        "the set is asked for";
    fault.expected = "'fronts: both' or 'fronts: networks'";
    return fault;
  }
  if (request.uncertainty && !spec.needs_area) {
    fault.message = "no objective depends on the area, so nothing is uncertain";
    fault.expected = "'area' under 'minimize'";
    return fault;
  }
  return std::nullopt;
}

}  // namespace

base::Expected<std::optional<Json>> Ask(const Spec& spec, const Store& store,
                                        const Request& request, const RunOptions& options) {
  if (auto fault = FaultFor(spec, request)) return base::Unexpected(*fault);
  const base::Expected<std::vector<Point>> points = spec.space.Enumerate();
  if (!points) return base::Unexpected(points.error());
  const KeptEstimates estimates(spec, store, options.canceller);
  const base::Expected<std::vector<double>> areas = FindAreas(spec, *points);
  if (options.canceller.IsCancelled()) return std::optional<Json>();
  if (!areas) return base::Unexpected(areas.error());
  const std::string digest = DigestOfRequest(spec, request, *points, *areas);
  const bool is_front = !request.relax && request.least.empty();
  if (const std::optional<std::string> known =
          is_front ? store.FindResult(digest) : store.FindAnalysis(digest)) {
    if (is_front) store.AddResult(digest, *known);
    return Json::parse(*known);
  }
  auto document = request.relax            ? Relax(spec, store, options)
                  : !request.least.empty() ? FindLeast(spec, store, request.least, options)
                                           : AnswerFronts(spec, store, request, options);
  if (!document && !store.Fault() && options.canceller.IsCancelled()) return std::optional<Json>();
  if (!document || !*document) return document;
  if (is_front) {
    store.AddResult(digest, (*document)->dump());
  } else {
    store.AddAnalysis(digest, (*document)->dump());
  }
  if (auto fault = store.Fault()) return base::Unexpected(*fault);
  return document;
}

std::string Describe(const Json& document) {
  const std::string format = document.at("format");
  if (format == "tessera-relaxation") return DescribeRelaxation(document);
  if (format == "tessera-least") return DescribeLeast(document);
  std::string text = DescribeDocument(document);
  if (document.contains("adaptive")) text += DescribeGap(document);
  if (document.contains("marginal")) text += DescribeMarginals(document);
  if (document.contains("uncertainty")) text += DescribeSurvivors(document);
  return text;
}

std::string FaultOf(const Request& request) {
  if (request.relax && !request.least.empty()) return "'relax' and 'least' are two questions";
  const bool wants_front = request.plan_all || request.marginal ||
                           request.uncertainty.has_value() || request.adaptive.has_value();
  if ((request.relax || !request.least.empty()) && wants_front)
    return "'relax' and 'least' find no front, so nothing else can be asked with them";
  if (request.plan_all && request.adaptive)
    return "'exhaustive' plans every pair, 'adaptive' a share of them";
  if (request.uncertainty && (!(*request.uncertainty > 0) || !(*request.uncertainty < 1)))
    return "an uncertainty lies above 0 and below 100 %";
  if (request.adaptive && (!(*request.adaptive > 0) || !(*request.adaptive <= 1)))
    return "the share of an adaptive exploration lies between 0 and 100 %";
  return "";
}

}  // namespace tessera::explore
