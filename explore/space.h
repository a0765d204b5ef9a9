// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/expression.h"

// The points of a search over hardware: profiles as JSON documents, and the entries that vary.
namespace tessera::explore {

using Json = nlohmann::ordered_json;

// Returns the profile with each repetition stated once, so that one entry changes all of it: banks
// of equal size as their number, and equal bandwidths of reads and writes as `bytes_per_cycle`.
Json ShortForm(Json profile);

// Returns the JSON pointers of the entries that a path names: keys with dots between them, where
// `*` stands for any key ("engines.npu.operators.*.unroll.out_channels"). Keys that contain dots
// are found too.
std::vector<std::string> FindEntries(const Json& document, std::string_view path);

// As FindEntries, for an entry that is to be set. If there is none and the path has no `*`, returns
// the entry that the path would add to an existing object; empty if there is no such object.
std::vector<std::string> FindPlaces(const Json& document, std::string_view path);

// Sets all these entries to the value.
void SetEntries(Json& document, const std::vector<std::string>& pointers, const Json& value);

// Returns the number that all entries of the path have; nullopt if they differ or there is none.
std::optional<double> NumberAt(const Json& document, std::string_view path);

// Returns a number as JSON: an integer if it is whole.
Json AsJson(double number);
Json AsJson(const std::map<std::string, double>& figures);

// An axis: entries of the profile, and their values.
struct Axis {
  std::string path;
  std::string name;  // in expressions; the path if the specification gives none
  std::vector<Json> values;
  std::optional<Expression> expression;  // instead of values: computed from the other axes
};

struct BaseProfile {
  std::string file;
  std::string name;
  Json document;  // in short form
};

// One profile of the space.
struct Point {
  std::vector<Json> values;  // one for each axis
  size_t base = 0;
  std::string text;  // the document on one line

  Json Document() const { return Json::parse(text); }
};

// The product of all axes with values, for each base profile. Axes with an expression are computed.
class Space {
 public:
  Space() = default;
  Space(std::vector<BaseProfile> bases, std::vector<Axis> axes, std::vector<Expression> where)
      : bases_(std::move(bases)), axes_(std::move(axes)), where_(std::move(where)) {}

  const std::vector<BaseProfile>& Bases() const { return bases_; }
  const std::vector<Axis>& Axes() const { return axes_; }

  // Returns the number of combinations before `where`; saturates at the largest number.
  int64_t Combinations() const;

  // Returns the points that satisfy `where`, in the order of the axes, the first one outermost.
  // Points with equal documents are one point. Refuses more than kMostCombinations.
  base::Expected<std::vector<Point>> Enumerate() const;

  // Returns the value of a name in an expression at a point: of an axis, or else of a path.
  std::optional<double> Lookup(const std::vector<Json>& values, const Json& document,
                               std::string_view name) const;

  static constexpr int64_t kMostCombinations = 100'000;

 private:
  base::Expected<double> Evaluate(const Expression& expression, const std::vector<Json>& values,
                                  const Json& document) const;
  base::Expected<Point> Make(size_t base, int64_t combination, Json& document) const;
  base::Expected<bool> Satisfies(const Point& point, const Json& document) const;

  std::vector<BaseProfile> bases_;
  std::vector<Axis> axes_;
  std::vector<Expression> where_;
};

}  // namespace tessera::explore
