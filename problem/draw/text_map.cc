// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/problem/draw/pictures.h"

namespace tessera::problem::draw {
namespace {

constexpr std::string_view kLetters =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
constexpr char kFree = '.';
constexpr char kReserved = '#';
constexpr size_t kWidestCell = 9;
constexpr size_t kLeastId = 12;  // printed letters of a buffer's id, at least

// Steps [begin, end) with no change in between.
struct SteadySteps {
  Step begin = 0;
  Step end = 0;
};

// Printable ASCII. The width of other characters is unknown, so their bytes become question marks.
std::string Plain(std::string_view text) {
  std::string plain = base::Printable(text);
  std::replace_if(
      plain.begin(), plain.end(), [](unsigned char c) { return c >= 0x7f; }, '?');
  return plain;
}

class TextMap {
 public:
  TextMap(const Problem& problem, const Allocation& allocation, size_t memory, Bytes capacity,
          size_t columns)
      : problem_(problem),
        allocation_(allocation),
        memory_(problem.memories[memory]),
        index_(memory),
        capacity_(capacity),
        columns_(columns),
        horizon_(Horizon(problem)) {
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      if (static_cast<size_t>(problem.buffers[i].memory) == memory) buffers_.push_back(i);
    }
    for (const Bank& bank : memory_.banks)
      bank_width_ = std::max(bank_width_, Plain(bank.name).size());
  }

  std::string Write() {
    if (buffers_.empty()) return "";
    const std::string name =
        memory_.name.empty() ? fmt::format("memory {}", index_) : Plain(memory_.name);
    text_ = fmt::format("{}: peak {} of {} bytes\n", name,
                        PeakOf(problem_, allocation_, static_cast<int>(index_)), capacity_);
    for (const std::string& line : DescribeBankSets(memory_)) AddLine(Plain(line));
    const std::vector<SteadySteps> columns = FindSteadySteps();
    // at worst a letter and a blank for each column
    const size_t room = (columns_ - LeftWidth()) / 2;
    for (size_t first = 0; first < columns.size(); first += room) {
      const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(first);
      WritePart(
          {begin, begin + static_cast<std::ptrdiff_t>(std::min(room, columns.size() - first))});
    }
    return text_;
  }

 private:
  Bytes Lower(size_t buffer) const { return allocation_.offsets[buffer]; }
  Bytes Upper(size_t buffer) const { return Lower(buffer) + problem_.buffers[buffer].size; }

  size_t AddressWidth() const { return std::to_string(std::max(capacity_, AllUpper())).size(); }

  Bytes AllUpper() const {
    Bytes upper = 0;
    for (const size_t buffer : buffers_) upper = std::max(upper, Upper(buffer));
    return upper;
  }

  // "lower .. upper  bank  "
  size_t LeftWidth() const {
    const size_t width = 2 * AddressWidth() + 6;
    return width + (bank_width_ == 0 ? 0 : std::min<size_t>(bank_width_, 12) + 2);
  }

  bool HasModes() const {
    return index_ < allocation_.modes.size() && !allocation_.modes[index_].empty();
  }
  int ModeAt(Step step) const {
    return HasModes() ? allocation_.modes[index_][static_cast<size_t>(step - horizon_.lower)] : 0;
  }

  std::vector<SteadySteps> FindSteadySteps() const {
    std::vector<Step> cuts = {horizon_.lower, horizon_.upper};
    for (const size_t buffer : buffers_) {
      for (const Lifespan& life : problem_.buffers[buffer].lifespans) {
        cuts.push_back(life.lower);
        cuts.push_back(life.upper);
      }
    }
    if (HasModes()) {
      for (Step step = horizon_.lower + 1; step < horizon_.upper; ++step) {
        if (ModeAt(step) != ModeAt(step - 1)) cuts.push_back(step);
      }
    }
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    std::vector<SteadySteps> columns;
    for (size_t i = 0; i + 1 < cuts.size(); ++i) columns.push_back({cuts[i], cuts[i + 1]});
    return columns;
  }

  std::vector<size_t> LivingDuring(const std::vector<SteadySteps>& part) const {
    std::vector<size_t> living;
    for (const size_t buffer : buffers_) {
      const auto& lives = problem_.buffers[buffer].lifespans;
      const bool lives_then = std::any_of(lives.begin(), lives.end(), [&](const Lifespan& life) {
        return life.lower < part.back().end && part.front().begin < life.upper;
      });
      if (lives_then) living.push_back(buffer);
    }
    std::stable_sort(living.begin(), living.end(),
                     [this](size_t a, size_t b) { return Lower(a) > Lower(b); });
    return living;
  }

  std::vector<Bytes> CutsOf(const std::vector<size_t>& living) const {
    std::vector<Bytes> cuts = {0, std::max(capacity_, AllUpper())};
    for (const size_t buffer : living) cuts.insert(cuts.end(), {Lower(buffer), Upper(buffer)});
    for (const Bank& bank : memory_.banks)
      cuts.insert(cuts.end(), {bank.range.begin, bank.range.end});
    for (const Reserved& reserved : memory_.reserved)
      cuts.insert(cuts.end(), {reserved.range.begin, reserved.range.end});
    std::sort(cuts.begin(), cuts.end());
    cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
    return cuts;
  }

  std::string BankAt(Bytes address) const {
    for (const Bank& bank : memory_.banks) {
      if (bank.range.begin <= address && address < bank.range.end)
        return Plain(bank.name).substr(0, 12);
    }
    return "";
  }

  char CellAt(Bytes address, Step step, const std::vector<size_t>& living) const {
    for (const Reserved& reserved : memory_.reserved) {
      if (reserved.range.begin <= address && address < reserved.range.end) return kReserved;
    }
    for (size_t i = 0; i < living.size(); ++i) {
      const bool covers = Lower(living[i]) <= address && address < Upper(living[i]);
      if (covers && LivesAt(problem_.buffers[living[i]], step))
        return kLetters[i % kLetters.size()];
    }
    return kFree;
  }

  void WritePart(const std::vector<SteadySteps>& part) {
    const std::vector<size_t> living = LivingDuring(part);
    const size_t room = columns_ - LeftWidth();
    const size_t cell = std::clamp<size_t>(room / part.size(), 2, kWidestCell);
    WriteHead(part, cell);
    WriteRows(part, cell, living);
    if (HasModes()) {
      text_ += fmt::format("{:<{}}", "mode", LeftWidth());
      for (const SteadySteps& steps : part) text_ += std::string(cell, Digit(ModeAt(steps.begin)));
      text_ += '\n';
    }
    WriteLegend(part, living);
  }

  static char Digit(int mode) { return kLetters[52 + static_cast<size_t>(mode) % 10]; }

  // The first step of each column that has enough space for it.
  void WriteHead(const std::vector<SteadySteps>& part, size_t cell) {
    std::string line = fmt::format("{:>{}}", "step  ", LeftWidth());
    for (size_t i = 0; i < part.size(); ++i) {
      const size_t at = LeftWidth() + i * cell;
      const std::string number = std::to_string(part[i].begin);
      const bool free = i == 0 || line.size() + 1 <= at;
      if (!free || at + number.size() > columns_) continue;
      line.resize(at, ' ');
      line += number;
    }
    text_ += line + '\n';
  }

  // From the highest address down. Equal rows are merged.
  void WriteRows(const std::vector<SteadySteps>& part, size_t cell,
                 const std::vector<size_t>& living) {
    const std::vector<Bytes> cuts = CutsOf(living);
    Bytes upper = cuts.back();
    for (size_t i = cuts.size() - 1; i > 0; --i) {
      const std::string cells = CellsAt(cuts[i - 1], part, cell, living);
      const bool alike = i > 1 && BankAt(cuts[i - 2]) == BankAt(cuts[i - 1]) &&
                         CellsAt(cuts[i - 2], part, cell, living) == cells;
      if (alike) continue;
      const std::string bank = bank_width_ == 0 ? ""
                                                : fmt::format("{:<{}}  ", BankAt(cuts[i - 1]),
                                                              std::min<size_t>(bank_width_, 12));
      text_ += fmt::format("{:>{}} .. {:>{}}  {}{}\n", cuts[i - 1], AddressWidth(), upper,
                           AddressWidth(), bank, cells);
      upper = cuts[i - 1];
    }
  }

  std::string CellsAt(Bytes address, const std::vector<SteadySteps>& part, size_t cell,
                      const std::vector<size_t>& living) const {
    std::string cells;
    for (const SteadySteps& steps : part)
      cells += std::string(cell, CellAt(address, steps.begin, living));
    return cells;
  }

  void WriteLegend(const std::vector<SteadySteps>& part, const std::vector<size_t>& living) {
    for (size_t i = 0; i < living.size(); ++i) {
      const Buffer& buffer = problem_.buffers[living[i]];
      std::string about = buffer.role.empty() ? "" : fmt::format(" ({})", Plain(buffer.role));
      about +=
          fmt::format(" {} bytes [{}, {}), steps", buffer.size, Lower(living[i]), Upper(living[i]));
      for (const Lifespan& life : buffer.lifespans)
        about += fmt::format(" [{}, {})", life.lower, life.upper);
      // An id with numbers cannot be guessed from a prefix; the name perhaps can.
      std::string id = Plain(buffer.id);
      const size_t room = columns_ - std::min(columns_ - kLeastId, about.size() + 3);
      if (id.size() > room) id = id.substr(0, room - 3) + "...";
      AddLine(fmt::format("{}  {}{}", kLetters[i % kLetters.size()], id, about));
    }
    if (!HasModes()) return;
    for (size_t mode = 0; mode < memory_.modes.size(); ++mode) {
      const bool used = std::any_of(part.begin(), part.end(), [&](const SteadySteps& steps) {
        return static_cast<size_t>(ModeAt(steps.begin)) == mode;
      });
      if (used)
        AddLine(fmt::format("mode {}  {}", Digit(static_cast<int>(mode)),
                            Plain(memory_.modes[mode].name)));
    }
  }

  void AddLine(std::string line) {
    if (line.size() > columns_) line = line.substr(0, columns_ - 3) + "...";
    text_ += line + '\n';
  }

  const Problem& problem_;
  const Allocation& allocation_;
  const Memory& memory_;
  const size_t index_;
  const Bytes capacity_;
  const size_t columns_;
  const Lifespan horizon_;
  std::vector<size_t> buffers_;  // of this memory
  size_t bank_width_ = 0;
  std::string text_;
};

}  // namespace

std::vector<std::string> DescribeBankSets(const Memory& memory) {
  std::vector<std::string> lines;
  for (const auto& [key, sets] : memory.bank_sets) {
    if (sets.empty()) continue;
    std::string line = key + ":";
    for (size_t set = 0; set < sets.size(); ++set) {
      if (set > 0) line += " |";
      for (const int bank : sets[set]) {
        const std::string& name = memory.banks[static_cast<size_t>(bank)].name;
        line += " " + (name.empty() ? std::to_string(bank) : base::Printable(name));
      }
    }
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string WriteTextMap(const Problem& problem, const Allocation& allocation, Bytes capacity,
                         size_t columns) {
  std::string text;
  for (size_t memory = 0; memory < problem.memories.size(); ++memory) {
    const Bytes bytes = memory == 0 ? capacity : problem.memories[memory].capacity;
    text += TextMap(problem, allocation, memory, bytes, std::max<size_t>(columns, 40)).Write();
  }
  return text.empty() ? "no buffers\n" : text;
}

}  // namespace tessera::problem::draw
