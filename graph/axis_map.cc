#include "tessera/graph/axis_map.h"

#include <algorithm>

#include "tessera/base/checked.h"

namespace tessera::graph {
namespace {

// Twice an extent times an extent passes 2^63 for absurd but legal shapes.
__extension__ using Wide = __int128;

constexpr Extent kNothing{};

template <typename... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Overloaded(Cases...) -> Overloaded<Cases...>;

// The least index that any window of [first, last] reads, or `extent` when none reads anything. Tap t reads
// inside the input from window ceil((pad - t*dilation) / stride) on, and the windows' taps advance together,
// so one window a tap decides.
int64_t LeastRead(const AxisMap::Slide& slide, int64_t first, int64_t last) {
  const int64_t plain = first * slide.stride - slide.pad;
  if (plain >= 0) return std::min(plain, slide.extent);
  int64_t least = slide.extent;
  for (int64_t tap = 0; tap < slide.kernel; ++tap) {
    const int64_t shift = tap * slide.dilation - slide.pad;
    const int64_t window = std::max(first, base::CeilDiv(-shift, slide.stride));
    if (window <= last) least = std::min(least, window * slide.stride + shift);
  }
  return least;
}

// One past the greatest index that any window of [first, last] reads, or 0 when none reads anything.
int64_t GreatestReadEnd(const AxisMap::Slide& slide, int64_t first, int64_t last) {
  const int64_t plain = last * slide.stride - slide.pad + (slide.kernel - 1) * slide.dilation;
  if (plain < slide.extent) return std::max<int64_t>(plain + 1, 0);
  int64_t greatest = -1;
  for (int64_t tap = 0; tap < slide.kernel; ++tap) {
    const int64_t shift = tap * slide.dilation - slide.pad;
    const int64_t window = std::min(last, base::FloorDiv(slide.extent - 1 - shift, slide.stride));
    if (window >= first) greatest = std::max(greatest, window * slide.stride + shift);
  }
  return greatest + 1;
}

// The ends found from either side may belong to windows that read nothing (below 0 or beyond the extent);
// then they cross.
Extent ApplySlide(const AxisMap::Slide& slide, Extent output) {
  const int64_t begin = LeastRead(slide, output.begin, output.end - 1);
  const int64_t end = GreatestReadEnd(slide, output.begin, output.end - 1);
  return begin < end ? Extent{begin, end} : kNothing;
}

// Where index x of the output looks, as an exact fraction over 2 * output_extent.
Wide LookedAt(const AxisMap::Scaled& scaled, int64_t x) {
  return Wide{2 * x + 1} * scaled.extent - scaled.output_extent;
}

int64_t FloorRatio(Wide a, Wide b) { return static_cast<int64_t>(a / b - (a % b < 0 ? 1 : 0)); }

// Nearest rounds halves down, so it is ceil(v - 1/2); bilinear reads floor(v) and ceil(v), which are one
// where v is whole.
Extent ApplyScaled(const AxisMap::Scaled& scaled, Extent output) {
  const Wide scale = 2 * Wide{scaled.output_extent};
  const Wide first = LookedAt(scaled, output.begin);
  const Wide last = LookedAt(scaled, output.end - 1);
  const auto clip = [&scaled](int64_t index) { return std::clamp<int64_t>(index, 0, scaled.extent - 1); };
  if (scaled.mode == ResizeMode::kNearest) {
    const auto nearest = [scale](Wide place) { return -FloorRatio(scale / 2 - place, scale); };
    return {clip(nearest(first)), clip(nearest(last)) + 1};
  }
  return {clip(FloorRatio(first, scale)), clip(-FloorRatio(-last, scale)) + 1};
}

// Indices run through the stride's multiples in order; if they pass a multiple of the axis, they end high and
// start low again.
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
  return {first, last + 1};
}

// With holes no wider than the input, a window misses it only by lying wholly before or behind it.
bool SlideMayMiss(const AxisMap::Slide& slide) {
  const int64_t reach = (slide.kernel - 1) * slide.dilation;
  if (slide.kernel > 1 && slide.dilation > slide.extent) return true;
  return slide.pad > reach || (slide.output_extent - 1) * slide.stride - slide.pad >= slide.extent;
}

}  // namespace

Extent AxisMap::Apply(std::span<const Extent> output) const {
  const auto asked = [&] { return output[source]; };
  return std::visit(
      Overloaded{
          [](const Whole& whole) {
            return Extent{0, whole.extent};
          },
          [&](const Same&) { return asked(); },
          [&](const Slide& slide) { return ApplySlide(slide, asked()); },
          [&](const Grouped& grouped) {
            return Extent{asked().begin / grouped.outputs * grouped.inputs,
                          base::CeilDiv(asked().end, grouped.outputs) * grouped.inputs};
          },
          [&](const Part& part) {
            const Extent cut{std::max(asked().begin - part.offset, int64_t{0}),
                             std::min(asked().end - part.offset, part.extent)};
            return cut.begin < cut.end ? cut : kNothing;
          },
          [&](const Scaled& scaled) { return ApplyScaled(scaled, asked()); },
          [&](const Merged& merged) { return ApplyMerged(merged, output.subspan(source, sources)); },
          [&](const Digit& digit) { return ApplyDigit(digit, asked()); },
      },
      rule);
}

bool AxisMap::MayBeEmpty() const {
  if (const auto* slide = std::get_if<Slide>(&rule)) return SlideMayMiss(*slide);
  return std::holds_alternative<Part>(rule);
}

}  // namespace tessera::graph
