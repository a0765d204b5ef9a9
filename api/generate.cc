// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>
#include <tessera/lists.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/text.h"
#include "tessera/problem/generate/catalog.h"

// Generated lists of buffers.
namespace tessera::api {
namespace {

using problem::generate::FamilyTraits;
using problem::generate::Parameter;
using problem::generate::ParameterTraits;
using problem::generate::Request;

ListParameter Describe(Parameter parameter) {
  const ParameterTraits& traits = TraitsOf(parameter);
  return {std::string(traits.name), std::string(traits.meaning), traits.otherwise, traits.least,
          traits.most};
}

std::vector<ListFamily> Families() {
  std::vector<ListFamily> families;
  for (const FamilyTraits& from : problem::generate::Families()) {
    ListFamily& family = families.emplace_back();
    family.name = from.name;
    family.meaning = from.meaning;
    for (const Parameter parameter : from.parameters)
      family.parameters.push_back(Describe(parameter));
  }
  return families;
}

Result<Request> Translate(const ListVariations& given) {
  static constexpr double kMillion = 1e6;
  constexpr int kMost = std::numeric_limits<int>::max();
  if (!(given.fixed_share >= 0 && given.fixed_share <= 1))
    return BadArgument(fmt::format("the share of fixed offsets is {}", given.fixed_share),
                       "0 to 1");
  for (const int64_t pairs : {given.separated, given.penalties}) {
    if (pairs < 0 || pairs > kMost)
      return BadArgument(fmt::format("the number of pairs is {}", pairs),
                         fmt::format("0 to {}", kMost));
  }
  Request request;
  request.seed = given.seed;
  request.fixed_ppm = std::llround(given.fixed_share * kMillion);
  request.separated = static_cast<int>(given.separated);
  request.penalties = static_cast<int>(given.penalties);
  request.values = given.values;
  return request;
}

// Returns the first fault in the numbers of a request; the generator finds the others.
std::optional<Error> AddFamily(const ListRequest& given, Request& request) {
  static constexpr int64_t kMostBuffers = 10'000'000;
  if (given.buffers < 2 || given.buffers > kMostBuffers)
    return BadArgument(fmt::format("the number of buffers is {}", given.buffers),
                       fmt::format("2 to {}", kMostBuffers));
  request.family = given.family;
  request.buffers = static_cast<int>(given.buffers);
  for (const auto& [name, value] : given.parameters) {
    std::vector<std::string_view> known;
    for (size_t i = 0; i < problem::generate::kParameters; ++i)
      known.push_back(TraitsOf(static_cast<Parameter>(i)).name);
    const auto found = std::find(known.begin(), known.end(), name);
    if (found == known.end()) {
      return BadArgument("families have no parameter '" + name + "'",
                         "one of " + base::Join(known));
    }
    request.parameters[static_cast<size_t>(found - known.begin())] = value;
  }
  return std::nullopt;
}

Result<GeneratedList> Generated(base::Expected<problem::Problem> made, size_t relations,
                                size_t costs) {
  if (!made) return BadInput(made.error());
  const auto separated = static_cast<int64_t>(made->relations.size() - relations);
  const auto penalties = static_cast<int64_t>(made->costs.size() - costs);
  return GeneratedList{AsProblem({*std::move(made), {}}), separated, penalties};
}

Result<GeneratedList> Generate(const ListRequest& given) {
  Result<Request> request = Translate(given);
  if (!request) return request.Error();
  if (auto error = AddFamily(given, *request)) return *std::move(error);
  return Generated(problem::generate::Generate(*request), 0, 0);
}

Result<GeneratedList> Vary(const Problem::Content& given, const ListVariations& variations) {
  if (auto error = RefuseConstraints(given, "VaryList")) return *std::move(error);
  const Result<Request> request = Translate(variations);
  if (!request) return request.Error();
  if (given.document.ladder || !given.document.fallbacks.empty()) {
    return BadArgument(std::string("a varied list keeps no ") +
                           (given.document.ladder ? "tile candidates" : "fallbacks"),
                       "a list without them");
  }
  const problem::Problem& problem = given.document.problem;
  return Generated(problem::generate::Vary(problem, *request), problem.relations.size(),
                   problem.costs.size());
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<std::vector<ListFamily>> ListFamilies() {
  return api::Guarded([]() -> Result<std::vector<ListFamily>> { return api::Families(); });
}

Result<std::vector<ListParameter>> ListParameters() {
  return api::Guarded([]() -> Result<std::vector<ListParameter>> {
    std::vector<ListParameter> parameters;
    for (size_t i = 0; i < problem::generate::kParameters; ++i)
      parameters.push_back(api::Describe(static_cast<problem::generate::Parameter>(i)));
    return parameters;
  });
}

Result<GeneratedList> GenerateList(const ListRequest& request) {
  return api::Guarded([&] { return api::Generate(request); });
}

Result<GeneratedList> VaryList(const Problem& problem, const ListVariations& variations) {
  return api::Guarded([&] { return api::Vary(problem.Get(), variations); });
}

}  // namespace v0
}  // namespace tessera
