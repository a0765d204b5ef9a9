// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/draw/svg_labels.h"
#include "tessera/problem/explanation.h"

namespace tessera::problem::draw {
namespace {

using base::EscapeMarkup;

// Lengths are pixels of a picture 1200 wide.
constexpr double kWidth = 1200;
constexpr double kLeft = 170;  // bank names and addresses
constexpr double kRight = 20;
constexpr double kMapHeight = 420;
constexpr double kBar = 6;     // at the left of the banks of a set
constexpr double kStrip = 18;  // a row of loops, modes or the legend
constexpr double kTitle = 30;
constexpr double kAxis = 44;

constexpr std::array<std::string_view, 10> kColours = {"#8ecae6", "#ffb703", "#a7c957", "#e5989b",
                                                       "#b8a1d9", "#76c7b7", "#f4a261", "#c9ada7",
                                                       "#90a8ed", "#d4d06a"};
constexpr std::array<std::string_view, 4> kModeColours = {"#dfe7f5", "#f7e3c8", "#dcefd9",
                                                          "#f3d9e3"};

class Drawing {
 public:
  // With `captions` this draws a conflict; the captions are below it.
  Drawing(const Problem& problem, const Allocation& allocation, Bytes capacity,
          std::vector<std::string> captions = {})
      : problem_(problem),
        allocation_(allocation),
        capacity_(capacity),
        captions_(std::move(captions)),
        horizon_(Horizon(problem)),
        roles_(RolesOf(problem)),
        loops_(LoopsByDepth(problem)) {}

  std::string Draw() {
    double y = kTitle;
    DrawLegend(y);
    for (size_t memory = 0; memory < problem_.memories.size(); ++memory) {
      if (!Collides() || Holds(memory)) DrawMemory(memory, y);
    }
    DrawCaptions(y);
    const std::string title =
        problem_.name.empty() ? (Collides() ? "collision" : "allocation") : problem_.name;
    std::string document = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
        "width=\"{0:.0f}\" height=\"{1:.0f}\" font-family=\"Helvetica, Arial, sans-serif\" "
        "font-size=\"10\">\n"
        "<defs><pattern id=\"hatch\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" "
        "patternTransform=\"rotate(45)\"><path d=\"M0 0V6\" stroke=\"#888\" "
        "stroke-width=\"2\"/></pattern><pattern id=\"beyond\" width=\"6\" height=\"6\" "
        "patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(-45)\"><path d=\"M0 0V6\" "
        "stroke=\"#c1121f\" stroke-width=\"2\"/></pattern></defs>\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        "<text x=\"10\" y=\"19\" font-size=\"14\" font-weight=\"bold\">{2}</text>\n",
        kWidth, y + 10, EscapeMarkup(title));
    return document + body_ + "</svg>\n";
  }

 private:
  bool Collides() const { return !captions_.empty(); }

  bool Holds(size_t memory) const {
    return std::any_of(
        problem_.buffers.begin(), problem_.buffers.end(),
        [memory](const Buffer& buffer) { return static_cast<size_t>(buffer.memory) == memory; });
  }

  template <typename... Args>
  void Put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(body_), format, std::forward<Args>(args)...);
  }

  double X(Step step) const {
    const auto steps = static_cast<double>(std::max<Step>(1, horizon_.upper - horizon_.lower));
    return kLeft + static_cast<double>(step - horizon_.lower) / steps * (kWidth - kLeft - kRight);
  }

  double Y(Bytes address) const {
    return top_ + kMapHeight * (1 - static_cast<double>(address) / static_cast<double>(extent_));
  }

  std::string_view ColourOf(size_t buffer) const {
    if (roles_.empty()) return kColours[buffer % kColours.size()];
    const auto role = std::find(roles_.begin(), roles_.end(), problem_.buffers[buffer].role);
    if (role == roles_.end()) return "#d0d0d0";
    return kColours[static_cast<size_t>(role - roles_.begin()) % kColours.size()];
  }

  void DrawLegend(double& y) {
    double x = 10;
    for (size_t i = 0; i < roles_.size(); ++i) {
      const double width = 24 + kLetter * static_cast<double>(roles_[i].size());
      if (x + width > kWidth) {
        x = 10;
        y += kStrip;
      }
      Put("<rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"10\" height=\"10\" fill=\"{}\" stroke=\"#555\"/>"
          "<text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
          x, y, kColours[i % kColours.size()], x + 14, y + 9, EscapeMarkup(roles_[i]));
      x += width + 8;
    }
    if (!roles_.empty()) y += kStrip;
  }

  void DrawMemory(size_t index, double& y) {
    const Memory& memory = problem_.memories[index];
    const Bytes capacity = index == 0 ? capacity_ : memory.capacity;
    const Bytes peak = PeakOf(problem_, allocation_, static_cast<int>(index));
    // Shows the whole capacity if there are banks to show, or if the buffers keep at least a
    // quarter of the picture.
    const bool whole = !memory.banks.empty() || capacity / 4 <= peak;
    extent_ = std::max<Bytes>(1, whole ? std::max(capacity, peak) : peak + peak / 8);
    Put("<text x=\"10\" y=\"{:.0f}\" font-size=\"12\" font-weight=\"bold\">{}: {} {} of {} "
        "bytes{}{}</text>\n",
        y + 16, EscapeMarkup(memory.name.empty() ? fmt::format("memory {}", index) : memory.name),
        Collides() ? "what collides, piled up," : "peak", peak, capacity,
        whole ? "" : ", upper addresses cut off", EscapeMarkup(BankSetsIn(memory)));
    y += kTitle;
    DrawLoops(y);
    top_ = y;
    DrawBanks(memory);
    DrawBankSets(memory);
    DrawAddresses();
    DrawReserved(memory);
    DrawBuffers(index);
    if (whole) {
      Put("<path d=\"M{:.1f} {:.1f}H{:.1f}\" stroke=\"#c1121f\" "
          "stroke-width=\"1.5\"><title>capacity {}</title></path>\n",
          kLeft, Y(capacity), kWidth - kRight, capacity);
    }
    y += kMapHeight + 2;
    if (index < allocation_.modes.size() && !allocation_.modes[index].empty()) DrawModes(index, y);
    DrawSteps(y);
  }

  void DrawLoops(double& y) {
    int depths = 0;
    for (const auto& [loop, depth] : loops_) {
      depths = std::max(depths, depth + 1);
      const double at = y + depth * kStrip + 12;
      const std::string label =
          Fit(fmt::format("loop [{}, {})", loop.begin, loop.end), X(loop.end) - X(loop.begin));
      Put("<path d=\"M{0:.1f} {2:.1f}v-6H{1:.1f}v6\" fill=\"none\" stroke=\"#333\"/>"
          "<text x=\"{3:.1f}\" y=\"{4:.1f}\" text-anchor=\"middle\">{5}</text>\n",
          X(loop.begin) + 1, X(loop.end) - 1, at + 4, (X(loop.begin) + X(loop.end)) / 2, at - 5,
          label);
    }
    if (depths > 0) y += depths * kStrip + 4;
  }

  void DrawBanks(const Memory& memory) {
    for (size_t i = 0; i < memory.banks.size(); ++i) {
      const AddressRange& range = memory.banks[i].range;
      if (range.begin >= extent_) continue;
      const double top = Y(std::min(range.end, extent_));
      const double height = Y(range.begin) - top;
      Put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" "
          "stroke=\"#999\" stroke-dasharray=\"4 2\"/>\n",
          kLeft, top, kWidth - kLeft - kRight, height, i % 2 == 0 ? "#f3f3f3" : "#e6e6e6");
      const std::string name =
          memory.banks[i].name.empty() ? fmt::format("bank {}", i) : memory.banks[i].name;
      if (height > 9)
        Put("<text x=\"10\" y=\"{:.1f}\">{}</text>\n", top + height / 2 + 3,
            EscapeMarkup(Fit(name, kLeft - 80)));
    }
  }

  // A bar at the left of each bank, with one colour for all banks of a set.
  void DrawBankSets(const Memory& memory) {
    double x = 1;
    for (const auto& [key, sets] : memory.bank_sets) {
      for (size_t set = 0; set < sets.size(); ++set) {
        Put("<g fill=\"{}\"><title>{} {}</title>", kColours[set % kColours.size()],
            EscapeMarkup(key), set);
        for (const int bank : sets[set]) {
          const AddressRange& range = memory.banks[static_cast<size_t>(bank)].range;
          if (range.begin >= extent_) continue;
          const double top = Y(std::min(range.end, extent_));
          Put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", x, top, kBar,
              Y(range.begin) - top);
        }
        Put("</g>\n");
      }
      x += kBar + 1;
    }
  }

  void DrawAddresses() {
    const Bytes tick = TickOf(extent_, 12, true);
    for (Bytes address = 0; address <= extent_; address += tick) {
      Put("<path d=\"M{0:.1f} {1:.1f}H{2:.1f}\" stroke=\"#ddd\"/><text x=\"{3:.1f}\" y=\"{4:.1f}\" "
          "text-anchor=\"end\" fill=\"#555\">{5}</text>\n",
          kLeft - 4, Y(address), kWidth - kRight, kLeft - 7, Y(address) + 3,
          AddressLabel(address, tick));
    }
  }

  void DrawReserved(const Memory& memory) {
    for (const Reserved& reserved : memory.reserved) {
      if (reserved.range.begin >= extent_) continue;
      const double top = Y(std::min(reserved.range.end, extent_));
      Put("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"url(#hatch)\" "
          "stroke=\"#888\"><title>reserved [{}, {}): {}</title></rect>\n",
          kLeft, top, kWidth - kLeft - kRight, Y(reserved.range.begin) - top, reserved.range.begin,
          reserved.range.end, EscapeMarkup(reserved.reason));
    }
  }

  void DrawBuffers(size_t memory) {
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& buffer = problem_.buffers[i];
      if (static_cast<size_t>(buffer.memory) != memory) continue;
      const Bytes offset = allocation_.offsets[i];
      const double top = Y(offset + buffer.size);
      const double height = Y(offset) - top;
      Put("<g><title>{}</title>",
          EscapeMarkup(TooltipOf(problem_.buffers[i], allocation_.offsets[i])));
      for (const Lifespan& life : buffer.lifespans) {
        const double width = X(life.upper) - X(life.lower);
        // An outline would hide a rectangle of only one or two pixels.
        const double stroke = std::min({0.8, width / 4, height / 4});
        Put("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\" "
            "fill-opacity=\"0.85\" stroke=\"{}\" stroke-width=\"{:.2f}\"/>",
            X(life.lower), top, width, height, ColourOf(i), Collides() ? "#c1121f" : "#333",
            Collides() ? 2 * stroke : stroke);
        if (Collides()) DrawExcess(memory, {offset, offset + buffer.size}, life);
        const std::string label = Fit(buffer.name.empty() ? buffer.id : buffer.name, width);
        if (height < 11 || label.empty()) continue;
        Put("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\">{}</text>",
            X(life.lower) + width / 2, top + height / 2 + 3.5, EscapeMarkup(label));
      }
      if (Collides()) DrawAccesses(buffer, top);
      Put("</g>\n");
    }
  }

  // Draws the part of a buffer's bytes above the capacity.
  void DrawExcess(size_t memory, const AddressRange& bytes, const Lifespan& life) {
    const Bytes capacity = memory == 0 ? capacity_ : problem_.memories[memory].capacity;
    if (bytes.end <= capacity) return;
    const double top = Y(bytes.end);
    Put("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" "
        "fill=\"url(#beyond)\"/>",
        X(life.lower), top, X(life.upper) - X(life.lower),
        Y(std::max(bytes.begin, capacity)) - top);
  }

  // A letter at the step of each access: r or w.
  void DrawAccesses(const Buffer& buffer, double top) {
    for (const Access& access : buffer.accesses) {
      const bool reads = access.kind == AccessKind::kRead;
      Put("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"middle\" font-weight=\"bold\" "
          "fill=\"#c1121f\">{}</text>",
          (X(access.step) + X(access.step + 1)) / 2 + (reads ? -5 : 5), top + 10,
          reads ? "r" : "w");
    }
  }

  void DrawCaptions(double& y) {
    for (const std::string& caption : captions_) {
      const size_t indent = std::min(caption.find_first_not_of(' '), caption.size());
      Put("<text x=\"{}\" y=\"{:.0f}\" font-size=\"11\">{}</text>\n", 10 + 8 * indent, y,
          EscapeMarkup(caption.substr(indent)));
      y += kStrip - 2;
    }
  }

  void DrawModes(size_t memory, double& y) {
    const ModeSchedule& schedule = allocation_.modes[memory];
    Put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">mode</text>\n", kLeft - 7, y + 12);
    for (size_t begin = 0, end = 0; begin < schedule.size(); begin = end) {
      while (end < schedule.size() && schedule[end] == schedule[begin]) ++end;
      const auto mode = static_cast<size_t>(schedule[begin]);
      const std::string& given = problem_.memories[memory].modes[mode].name;
      const std::string name = given.empty() ? fmt::format("{}", mode) : given;
      const double left = X(horizon_.lower + static_cast<Step>(begin));
      const double width = X(horizon_.lower + static_cast<Step>(end)) - left;
      Put("<g><title>{0}</title><rect x=\"{1:.2f}\" y=\"{2:.2f}\" width=\"{3:.2f}\" height=\"16\" "
          "fill=\"{4}\" stroke=\"#777\" stroke-width=\"0.5\"/><text x=\"{5:.2f}\" y=\"{6:.2f}\" "
          "text-anchor=\"middle\">{7}</text></g>\n",
          EscapeMarkup(name), left, y, width, kModeColours[mode % kModeColours.size()],
          left + width / 2, y + 11.5, EscapeMarkup(Fit(name, width)));
    }
    y += kStrip;
  }

  void DrawSteps(double& y) {
    const Step tick = TickOf(horizon_.upper - horizon_.lower, 20, false);
    for (Step step = horizon_.lower; step <= horizon_.upper; step += tick) {
      Put("<path d=\"M{0:.1f} {1:.1f}v4\" stroke=\"#555\"/><text x=\"{0:.1f}\" y=\"{2:.1f}\" "
          "text-anchor=\"middle\" fill=\"#555\">{3}</text>\n",
          X(step), y, y + 15, step);
    }
    Put("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\" fill=\"#555\">step</text>\n",
        kLeft - 7, y + 15);
    y += kAxis;
  }

  const Problem& problem_;
  const Allocation& allocation_;
  const Bytes capacity_;
  const std::vector<std::string> captions_;
  const Lifespan horizon_;
  const std::vector<std::string_view> roles_;
  const std::vector<std::pair<Loop, int>> loops_;
  Bytes extent_ = 1;  // of the memory being drawn
  double top_ = 0;    // of its map
  std::string body_;
};

}  // namespace

std::string WriteSvg(const Problem& problem, const Allocation& allocation, Bytes capacity) {
  return Drawing(problem, allocation, capacity).Draw();
}

std::string WriteCollisionSvg(const Problem& problem, const Explanation& explanation,
                              Bytes capacity) {
  const Window pile = PileUp(problem, explanation);
  return Drawing(pile.problem, pile.allocation, capacity, Sentences(problem, explanation, capacity))
      .Draw();
}

}  // namespace tessera::problem::draw
