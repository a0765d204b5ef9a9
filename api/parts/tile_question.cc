// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/api/parts/tile_answers.h"
#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/report/text_table.h"
#include "tessera/search/cost/engine_choice.h"

namespace tessera::api::parts {
namespace {

using base::Axis;

constexpr std::pair<std::string_view, Axis> kAxes[] = {{"rows", Axis::kRows},
                                                       {"columns", Axis::kColumns},
                                                       {"channels", Axis::kChannels},
                                                       {"batch", Axis::kBatch}};

base::Diagnostic TileFault(std::string message, std::string expected, std::string hint = "") {
  base::Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  return fault;
}

std::optional<int64_t> ParseNumber(std::string_view word) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

// Finds an operator by its id, or else by its number.
base::Expected<int> FindNamed(const std::string& said, const std::string& word,
                              const graph::Graph& network) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < network.operators.size(); ++i) {
    if (network.operators[i].id == word) return static_cast<int>(i);
    names.emplace_back(network.operators[i].id);
  }
  const std::optional<int64_t> number = ParseNumber(word);
  if (number && word.front() != '-' && *number < static_cast<int64_t>(names.size()))
    return static_cast<int>(*number);
  return tl::unexpected(
      TileFault(fmt::format("{}: there is no operator '{}'", said, word),
                fmt::format("an id, or a number from 0 to {}", network.operators.size() - 1),
                base::DidYouMean(word, names)));
}

std::vector<std::string_view> Split(std::string_view words, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t end = words.find(separator);
    parts.push_back(words.substr(0, end));
    if (end == std::string_view::npos) return parts;
    words.remove_prefix(end + 1);
  }
}

// Reads a shape, then checks it against the network and the profile.
class ShapeReader {
 public:
  ShapeReader(const std::string& words, const graph::Graph& network,
              const hw_profiles::Profile& profile, graph::Interval interval)
      : words_(words),
        network_(network),
        profile_(profile),
        interval_(interval),
        output_(encoder::program::OutputShape(network, interval)),
        shape_(output_) {}

  base::Expected<graph::tiling::TileShape> Read() {
    const bool named = words_.find('=') != std::string::npos;
    if (auto fault = named ? ReadNamed() : ReadExtents()) return tl::unexpected(*std::move(fault));
    if (auto fault = FindIllegal()) return tl::unexpected(*std::move(fault));
    return shape_;
  }

 private:
  std::optional<base::Diagnostic> ReadNamed() {
    std::vector<std::string_view> names;
    for (const auto& [name, axis] : kAxes) {
      if (graph::tiling::AxisOf(output_, axis)) names.push_back(name);
    }
    for (const std::string_view part : Split(words_, ',')) {
      const size_t equals = part.find('=');
      const std::string_view name = part.substr(0, equals);
      const auto known = std::find_if(std::begin(kAxes), std::end(kAxes),
                                      [name](const auto& each) { return each.first == name; });
      const std::optional<size_t> axis =
          known == std::end(kAxes) ? std::nullopt : graph::tiling::AxisOf(output_, known->second);
      if (!axis) {
        return TileFault(
            fmt::format("tile {}: the output has no axis '{}'", words_, name),
            names.empty() ? "no tile: the output has no named axes" : base::Join(names),
            base::DidYouMean(name, names));
      }
      const std::optional<int64_t> extent =
          equals == std::string_view::npos ? std::nullopt : ParseNumber(part.substr(equals + 1));
      if (!extent) return NoNumber(part);
      shape_[*axis] = *extent;
    }
    return std::nullopt;
  }

  std::optional<base::Diagnostic> ReadExtents() {
    std::vector<int64_t> extents;
    for (const std::string_view part : Split(words_, 'x')) {
      const std::optional<int64_t> extent = ParseNumber(part);
      if (!extent) return NoNumber(part);
      extents.push_back(*extent);
    }
    const std::optional<size_t> rows = graph::tiling::AxisOf(output_, Axis::kRows);
    const std::optional<size_t> columns = graph::tiling::AxisOf(output_, Axis::kColumns);
    if (extents.size() == output_.size() && (extents.size() > 2 || !rows || !columns)) {
      shape_ = extents;
    } else if (extents.size() <= 2 && rows && (columns || extents.size() == 1)) {
      shape_[*rows] = extents[0];
      if (extents.size() == 2) shape_[*columns] = extents[1];
    } else {
      return TileFault(fmt::format("tile {} has {} extents", words_, extents.size()),
                       fmt::format("rows x columns, axes by name, or all extents of the output {}",
                                   report::ShapeText(output_)));
    }
    return std::nullopt;
  }

  base::Diagnostic NoNumber(std::string_view part) const {
    return TileFault(fmt::format("tile {}: '{}' gives no extent", words_, part),
                     "rows x columns as in 7x56, or axes by name as in rows=7,channels=32");
  }

  // Returns the granularity along an axis, if the profile and the operators allow cuts along it.
  std::optional<int64_t> GranularityOf(size_t axis) const {
    for (const hw_profiles::AxisGranularity& cut : profile_.tiling.axes) {
      if (graph::tiling::AxisOf(output_, cut.axis) != axis) continue;
      if (graph::tiling::CanCut(network_, interval_, axis)) return cut.granularity;
    }
    return std::nullopt;
  }

  // Returns the legal extents next to the requested one: below or equal, above or equal.
  std::pair<int64_t, int64_t> Nearest(size_t axis) const {
    const int64_t whole = output_[axis];
    const std::optional<int64_t> granularity = GranularityOf(axis);
    if (!granularity || shape_[axis] >= whole) return {whole, whole};
    const int64_t least = std::min(*granularity, whole);
    const int64_t below = std::max(least, shape_[axis] / *granularity * *granularity);
    const int64_t above = std::min(whole, below >= shape_[axis] ? below : below + *granularity);
    return {below, above};
  }

  std::optional<base::Diagnostic> FindIllegal() const {
    std::vector<graph::tiling::TileShape> nearest = {shape_};
    std::string why;
    for (size_t axis = 0; axis < shape_.size(); ++axis) {
      const auto [below, above] = Nearest(axis);
      if (below == shape_[axis]) continue;
      if (why.empty()) why = WhyIllegal(axis);
      const size_t count = nearest.size();
      for (size_t i = 0; i < count; ++i) {
        nearest[i][axis] = below;
        if (above == below) continue;
        nearest.push_back(nearest[i]);
        nearest.back()[axis] = above;
      }
    }
    if (why.empty()) return std::nullopt;
    std::string listed;
    for (const graph::tiling::TileShape& shape : nearest)
      listed += (listed.empty() ? "" : " or ") + report::ShapeText(shape);
    return TileFault(fmt::format("tile {} is no tile of {}", report::ShapeText(shape_),
                                 report::ShapeText(output_)),
                     why, "the nearest is " + listed);
  }

  std::string WhyIllegal(size_t axis) const {
    std::string name = fmt::format("number {}", axis);
    for (const auto& [word, each] : kAxes) {
      if (graph::tiling::AxisOf(output_, each) == axis) name = word;
    }
    const std::optional<int64_t> granularity = GranularityOf(axis);
    if (!granularity && !graph::tiling::CanCut(network_, interval_, axis))
      return fmt::format("all {} of axis {}: the operators inside do not allow it to be cut",
                         output_[axis], name);
    if (!granularity)
      return fmt::format("all {} of axis {}: the profile does not cut along it", output_[axis],
                         name);
    if (*granularity >= output_[axis])
      return fmt::format("all {} {}: they are cut by {}", output_[axis], name, *granularity);
    if (*granularity > 1)
      return fmt::format("a multiple of {} {} below {}, or all of them", *granularity, name,
                         output_[axis]);
    return fmt::format("from 1 to {} {}", output_[axis], name);
  }

  const std::string& words_;
  const graph::Graph& network_;
  const hw_profiles::Profile& profile_;
  graph::Interval interval_;
  const graph::Shape& output_;
  graph::tiling::TileShape shape_;
};

}  // namespace

base::Expected<int> ParseOperator(const std::string& word, const graph::Graph& network,
                                  const std::string& option) {
  return FindNamed(option + " " + word, word, network);
}

base::Expected<graph::Interval> ParseInterval(const std::string& words, const graph::Graph& network,
                                              const std::string& option) {
  const int last = static_cast<int>(network.operators.size()) - 1;
  if (words.empty()) return graph::Interval{0, last};
  const std::string said = option + " " + words;
  const size_t dots = words.find("..");
  const base::Expected<int> first_index = FindNamed(said, words.substr(0, dots), network);
  if (!first_index) return tl::unexpected(first_index.error());
  const base::Expected<int> last_index =
      dots == std::string::npos ? first_index : FindNamed(said, words.substr(dots + 2), network);
  if (!last_index) return tl::unexpected(last_index.error());
  if (*first_index <= *last_index) return graph::Interval{*first_index, *last_index};
  base::Diagnostic fault;
  fault.message = said + ": the first operator comes after the last";
  fault.hint = "the order is that of the network file";
  return tl::unexpected(std::move(fault));
}

base::Expected<graph::tiling::TileShape> ParseTileShape(const std::string& words,
                                                        const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        graph::Interval interval) {
  if (auto fault = encoder::program::CheckWellFormed(network, interval))
    return tl::unexpected(*std::move(fault));
  return ShapeReader(words, network, profile, interval).Read();
}

namespace {

using encoder::program::Policy;

base::Expected<graph::tiling::TileShape> ChooseTile(const std::string& words,
                                                    const TileSubject& subject) {
  if (!words.empty())
    return ParseTileShape(words, subject.network, subject.profile, subject.interval);
  return encoder::program::OutputShape(subject.network, subject.interval);
}

base::Expected<Policy> ChoosePolicy(const std::string& words, const TileSubject& subject) {
  encoder::program::OfferedPolicies offered =
      encoder::program::OfferPolicies(subject.network, subject.profile, subject.interval);
  std::vector<Policy> policies = std::move(offered.first);
  policies.insert(policies.end(), offered.further.begin(), offered.further.end());
  if (words.empty()) return policies.front();
  std::vector<std::string> names;
  for (const Policy& policy : policies) {
    names.push_back(report::PolicyText(policy.weights, policy.in_place, policy.halo,
                                       policy.k_extent, policy.serialized));
    if (names.back() == words) return policy;
  }
  const std::vector<std::string_view> choices(names.begin(), names.end());
  base::Diagnostic fault;
  fault.message = fmt::format("--policy: the profile holds these operators in no way '{}'", words);
  fault.expected = base::Join(choices, "; ");
  fault.hint = base::DidYouMean(words, choices);
  return tl::unexpected(std::move(fault));
}

}  // namespace

std::string TileSubject::Text() const {
  const auto id = [this](int op) { return network.operators[static_cast<size_t>(op)].id; };
  return fmt::format("{}, operators {} to {}", network.name, id(interval.first), id(interval.last));
}

TileSubject MakeTileSubject(graph::Graph network, const hw_profiles::Profile& profile,
                            graph::Interval interval, std::vector<std::string> notes) {
  network = search::cost::WithEngines(encoder::program::WithHomes(network, profile), profile, {});
  return {std::move(network), profile, interval, std::move(notes)};
}

tl::expected<problem::Problem, TileRefusal> FormulateTile(const TileSubject& subject,
                                                          const std::string& tile_words,
                                                          const std::string& policy_words) {
  if (auto fault = encoder::program::CheckWellFormed(subject.network, subject.interval))
    return tl::unexpected(TileRefusal{*std::move(fault), true});
  const base::Expected<graph::tiling::TileShape> tile = ChooseTile(tile_words, subject);
  if (!tile) return tl::unexpected(TileRefusal{tile.error()});
  const base::Expected<Policy> policy = ChoosePolicy(policy_words, subject);
  if (!policy) return tl::unexpected(TileRefusal{policy.error()});
  const std::array choices = {encoder::program::SubgraphChoice{subject.interval, *tile, *policy}};
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(subject.network, subject.profile, choices);
  if (!program) return tl::unexpected(TileRefusal{program.error(), true});
  return std::move(program->problem);
}

}  // namespace tessera::api::parts
