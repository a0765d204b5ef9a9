// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/axis_map.h"

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::graph::ops {
namespace {

// Twice the product of two extents may exceed 2^63.
__extension__ using Wide = __int128;

constexpr Extent kNothing{};

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// The least index that any window of [first, last] reads, or `extent` if none reads anything. Tap t
// reads at window * stride + shift, where shift = t * dilation - pad. It reads inside the input
// from window ceil(-shift / stride) on:
//
//   taps from `early` on already read inside at the first window; the first of these reads the
//   least index;
//   earlier taps, from `late` on, first read inside at a later window; there such a tap reads at
//   shift modulo stride, which repeats with the stride.
int64_t LeastRead(const AxisMap::Slide& slide, int64_t first, int64_t last) {
  const int64_t plain = first * slide.stride - slide.pad;
  if (plain >= 0) return std::min(plain, slide.extent);
  const int64_t early = base::CeilDiv(-plain, slide.dilation);
  const int64_t late =
      std::max<int64_t>(0, base::CeilDiv(slide.pad - last * slide.stride, slide.dilation));
  int64_t least = slide.extent;
  if (early < slide.kernel) least = std::min(least, plain + early * slide.dilation);
  const int64_t end = std::min({early, slide.kernel, late + slide.stride});
  for (int64_t tap = late; tap < end; ++tap) {
    const int64_t shift = tap * slide.dilation - slide.pad;
    least = std::min(least, shift - base::RoundDown(shift, slide.stride));
  }
  return least;
}

// One past the greatest index that any window of [first, last] reads, or 0 if none reads anything.
// It mirrors LeastRead, tap for tap.
int64_t GreatestReadEnd(const AxisMap::Slide& slide, int64_t first, int64_t last) {
  const int64_t plain = last * slide.stride - slide.pad + (slide.kernel - 1) * slide.dilation;
  if (plain < slide.extent) return std::max<int64_t>(plain + 1, 0);
  const int64_t room = slide.extent - 1 + slide.pad;
  const int64_t early = base::FloorDiv(room - last * slide.stride, slide.dilation);
  const int64_t late =
      std::min(slide.kernel - 1, base::FloorDiv(room - first * slide.stride, slide.dilation));
  int64_t greatest = -1;
  if (early >= 0) greatest = last * slide.stride + early * slide.dilation - slide.pad;
  const int64_t end = std::max({early, int64_t{-1}, late - slide.stride});
  for (int64_t tap = late; tap > end; --tap) {
    const int64_t behind = room - tap * slide.dilation;
    const int64_t unread = behind - base::RoundDown(behind, slide.stride);
    greatest = std::max(greatest, slide.extent - 1 - unread);
  }
  return greatest + 1;
}

// The ends found from either side may belong to windows that read nothing (below 0 or beyond the
// extent). In that case they cross.
Extent ApplySlide(const AxisMap::Slide& slide, Extent output) {
  const int64_t begin = LeastRead(slide, output.begin, output.end - 1);
  const int64_t end = GreatestReadEnd(slide, output.begin, output.end - 1);
  return begin < end ? Extent{begin, end} : kNothing;
}

// Input i adds to output i*stride + shift through a tap. The result is the least and the greatest i
// that adds to an index of `output`. Taps without holes form one window.
Extent ApplySpread(const AxisMap::Spread& spread, Extent output) {
  const auto between = [&spread](int64_t first, int64_t last) {
    return Extent{std::max<int64_t>(base::CeilDiv(first, spread.stride), 0),
                  std::min(base::FloorDiv(last, spread.stride) + 1, spread.extent)};
  };
  const int64_t first = output.begin + spread.pad;
  const int64_t last = output.end - 1 + spread.pad;
  if (spread.dilation == 1) {
    const Extent read = between(first - spread.kernel + 1, last);
    return read.begin < read.end ? read : kNothing;
  }
  Extent hull{spread.extent, 0};
  for (int64_t tap = 0; tap < spread.kernel; ++tap) {
    const Extent read = between(first - tap * spread.dilation, last - tap * spread.dilation);
    if (read.begin >= read.end) continue;
    hull = {std::min(hull.begin, read.begin), std::max(hull.end, read.end)};
  }
  return hull.begin < hull.end ? hull : kNothing;
}

int64_t FloorRatio(Wide a, Wide b) { return static_cast<int64_t>(a / b - (a % b < 0 ? 1 : 0)); }

// The inputs, both ends included, that the output at place / scale reads, not yet mapped back into
// the input.
Extent SamplesAt(const AxisMap::Scaled& scaled, int64_t x) {
  const Wide place = Wide{x} * scaled.step + scaled.shift;
  const int64_t below = FloorRatio(place, scaled.scale);
  const Wide rest = place - Wide{below} * scaled.scale;
  if (rest == 0) return {below, below};
  if (scaled.mode == ResizeMode::kBilinear) return {below, below + 1};
  if (scaled.mode == ResizeMode::kCubic) return {below - 1, below + 2};
  bool up = false;
  switch (scaled.rounding) {
    case NearestRounding::kRoundPreferFloor:
      up = 2 * rest > scaled.scale;
      break;
    case NearestRounding::kRoundPreferCeil:
      up = 2 * rest >= scaled.scale;
      break;
    case NearestRounding::kFloor:
      break;
    case NearestRounding::kCeil:
      up = true;
      break;
  }
  return up ? Extent{below + 1, below + 1} : Extent{below, below};
}

// Positions ascend, and so do the inputs that are read. But an output that lies on an input does
// not read the outer inputs of a cubic resize, so its neighbour may reach further.
Extent ApplyScaled(const AxisMap::Scaled& scaled, Extent output) {
  const int64_t last = output.end - 1;
  const int64_t begin = std::min(SamplesAt(scaled, output.begin).begin,
                                 SamplesAt(scaled, std::min(output.begin + 1, last)).begin);
  const int64_t end = std::max(SamplesAt(scaled, last).end,
                               SamplesAt(scaled, std::max(last - 1, output.begin)).end);
  const auto clip = [&scaled](int64_t index) {
    return std::clamp<int64_t>(index, 0, scaled.extent - 1);
  };
  return {clip(begin), clip(end) + 1};
}

Extent ApplyStrided(const AxisMap::Strided& strided, Extent output) {
  const int64_t first = strided.start + output.begin * strided.step;
  const int64_t last = strided.start + (output.end - 1) * strided.step;
  return {std::min(first, last), std::max(first, last) + 1};
}

// Mirroring moves up and down between the first and last index of the input, once each way in a
// period. A range longer than the distance to the next end contains that end.
Extent ApplyReflected(int64_t extent, int64_t first, int64_t last) {
  if (extent == 1) return {0, 1};
  const int64_t way = extent - 1;
  const auto mirrored = [way](int64_t index) {
    const int64_t phase = index - base::RoundDown(index, 2 * way);
    return std::min(phase, 2 * way - phase);
  };
  const auto passes = [&](int64_t end) {
    return base::FloorDiv(last - end, 2 * way) > base::FloorDiv(first - 1 - end, 2 * way);
  };
  return {passes(0) ? 0 : std::min(mirrored(first), mirrored(last)),
          passes(way) ? extent : std::max(mirrored(first), mirrored(last)) + 1};
}

Extent ApplyPadded(const AxisMap::Padded& padded, Extent output) {
  const int64_t extent = padded.extent;
  const int64_t first = output.begin - padded.low;
  const int64_t last = output.end - 1 - padded.low;
  if (padded.mode == PadMode::kReflect) return ApplyReflected(extent, first, last);
  if (padded.mode == PadMode::kEdge) {
    return {std::clamp<int64_t>(first, 0, extent - 1),
            std::clamp<int64_t>(last, 0, extent - 1) + 1};
  }
  if (base::FloorDiv(first, extent) != base::FloorDiv(last, extent)) return {0, extent};
  const int64_t turn = base::RoundDown(first, extent);
  return {first - turn, last - turn + 1};
}

Extent HullOf(std::span<const int64_t> indices) {
  const auto [least, greatest] = std::minmax_element(indices.begin(), indices.end());
  return {*least, *greatest + 1};
}

Extent ApplyListed(const AxisMap::Listed& listed, Extent output) {
  constexpr int64_t kRun = AxisMap::Listed::kRun;
  const auto part = [&listed](int64_t begin, int64_t end) {
    return std::span(listed.indices)
        .subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  };
  const int64_t first = base::CeilDiv(output.begin, kRun);
  const int64_t last = output.end / kRun;
  if (first >= last) return HullOf(part(output.begin, output.end));
  Extent hull = listed.runs[static_cast<size_t>(first)];
  const auto add = [&hull](Extent other) {
    hull = {std::min(hull.begin, other.begin), std::max(hull.end, other.end)};
  };
  for (int64_t run = first + 1; run < last; ++run) add(listed.runs[static_cast<size_t>(run)]);
  if (output.begin < first * kRun) add(HullOf(part(output.begin, first * kRun)));
  if (last * kRun < output.end) add(HullOf(part(last * kRun, output.end)));
  return hull;
}

// Indices visit the multiples of the stride in order. If they pass a multiple of the axis, they
// reach its end and start again at its beginning.
Extent ApplyDigit(const AxisMap::Digit& digit, Extent output) {
  const int64_t first = output.begin / digit.stride;
  const int64_t last = (output.end - 1) / digit.stride;
  if (first / digit.extent != last / digit.extent) return {0, digit.extent};
  return {first % digit.extent, last % digit.extent + 1};
}

Extent ApplyMerged(const AxisMap::Merged& merged, std::span<const Extent> outputs) {
  int64_t first = 0;
  int64_t last = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    first += outputs[i].begin * merged.strides[i];
    last += (outputs[i].end - 1) * merged.strides[i];
  }
  return {first / merged.behind, last / merged.behind + 1};
}

Extent ApplyUnfolded(const AxisMap::Unfolded& unfolded, Extent channels, Extent blocks) {
  const Extent phases = ApplyDigit(unfolded.phase, channels);
  const int64_t block = unfolded.phase.extent;
  return {blocks.begin * block + phases.begin, (blocks.end - 1) * block + phases.end};
}

Extent ApplyFolded(const AxisMap::Folded& folded, std::span<const Extent> outputs) {
  const AxisMap::Digit phase{1, folded.block};
  const std::array<Extent, 3> parts = {outputs[0], ApplyDigit(phase, outputs[1]),
                                       ApplyDigit(phase, outputs[2])};
  int64_t first = 0;
  int64_t last = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    first += folded.weights[i] * parts[i].begin;
    last += folded.weights[i] * (parts[i].end - 1);
  }
  return {first, last + 1};
}

// With holes no wider than the input, a window misses it only if the window lies wholly before or
// after it.
bool SlideMayMiss(const AxisMap::Slide& slide) {
  const int64_t reach = (slide.kernel - 1) * slide.dilation;
  if (slide.kernel > 1 && slide.dilation > slide.extent) return true;
  return slide.pad > reach || (slide.output_extent - 1) * slide.stride - slide.pad >= slide.extent;
}

// Without holes, an output misses every window only after the last one.
bool SpreadMayMiss(const AxisMap::Spread& spread) {
  if (spread.dilation > 1 || spread.stride > spread.kernel) return true;
  return spread.output_extent + spread.pad > (spread.extent - 1) * spread.stride + spread.kernel;
}

}  // namespace

AxisMap::Listed::Listed(std::vector<int64_t> listed) : indices(std::move(listed)) {
  const std::span<const int64_t> all = indices;
  for (size_t begin = 0; begin + kRun <= all.size(); begin += kRun)
    runs.push_back(HullOf(all.subspan(begin, kRun)));
}

Extent AxisMap::Apply(std::span<const Extent> output) const {
  const auto asked = [&] { return output[source]; };
  return std::visit(Overloaded{
                        [](const Whole& whole) {
                          return Extent{0, whole.extent};
                        },
                        [&](const Same&) { return asked(); },
                        [&](const Slide& slide) { return ApplySlide(slide, asked()); },
                        [&](const Spread& spread) { return ApplySpread(spread, asked()); },
                        [&](const Grouped& grouped) {
                          return Extent{
                              asked().begin / grouped.outputs * grouped.inputs,
                              base::CeilDiv(asked().end, grouped.outputs) * grouped.inputs};
                        },
                        [&](const Part& part) {
                          const Extent cut{std::max(asked().begin - part.offset, int64_t{0}),
                                           std::min(asked().end - part.offset, part.extent)};
                          return cut.begin < cut.end ? cut : kNothing;
                        },
                        [&](const Scaled& scaled) { return ApplyScaled(scaled, asked()); },
                        [&](const Strided& strided) { return ApplyStrided(strided, asked()); },
                        [&](const Padded& padded) { return ApplyPadded(padded, asked()); },
                        [&](const Listed& listed) { return ApplyListed(listed, asked()); },
                        [](const Fixed& fixed) {
                          return Extent{fixed.index, fixed.index + 1};
                        },
                        [&](const Merged& merged) {
                          return ApplyMerged(merged, output.subspan(source, sources));
                        },
                        [&](const Digit& digit) { return ApplyDigit(digit, asked()); },
                        [&](const Unfolded& unfolded) {
                          return ApplyUnfolded(unfolded, asked(), output[source + source_step]);
                        },
                        [&](const Folded& folded) {
                          return ApplyFolded(folded, output.subspan(source, sources));
                        },
                        [&](const OfKind& own) { return own.Apply(output.subspan(source)); },
                    },
                    rule);
}

bool AxisMap::MayBeEmpty() const {
  if (const auto* slide = std::get_if<Slide>(&rule)) return SlideMayMiss(*slide);
  if (const auto* spread = std::get_if<Spread>(&rule)) return SpreadMayMiss(*spread);
  if (const auto* own = std::get_if<OfKind>(&rule)) return own->may_be_empty;
  return std::holds_alternative<Part>(rule);
}

std::vector<AxisMap> WholeAxes(const Shape& input) {
  std::vector<AxisMap> maps;
  maps.reserve(input.size());
  for (const int64_t extent : input) maps.push_back(WholeAxis(extent));
  return maps;
}

std::vector<AxisMap> SameAxes(size_t rank) {
  std::vector<AxisMap> maps;
  maps.reserve(rank);
  for (size_t axis = 0; axis < rank; ++axis) maps.push_back(SameAxis(axis));
  return maps;
}

std::vector<AxisMap> BroadcastAxes(const Shape& input, const Shape& output) {
  std::vector<AxisMap> maps;
  const size_t missing = output.size() - input.size();
  for (size_t axis = 0; axis < input.size(); ++axis) {
    maps.push_back(input[axis] == 1 ? WholeAxis(1) : SameAxis(axis + missing));
  }
  return maps;
}

}  // namespace tessera::graph::ops
