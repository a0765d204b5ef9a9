// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/meaning.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "tessera/base/text.h"

namespace tessera::encoder::formulation {
namespace {

// The item's name if it is unique, else its number: "bank 2".
template <typename T>
std::string NameAmong(const std::vector<T>& items, int index, std::string_view kind) {
  const std::string& name = items[static_cast<size_t>(index)].name;
  const auto same =
      std::count_if(items.begin(), items.end(), [&](const T& item) { return item.name == name; });
  return name.empty() || same > 1 ? fmt::format("{} {}", kind, index) : base::Printable(name);
}

// One sentence for each alternative of Meaning.
struct Sentence {
  const Wording& wording;
  const problem::Problem& problem;
  bool negated;

  std::string operator()(const Auxiliary&) const { return negated ? "not auxiliary" : "auxiliary"; }
  std::string operator()(const Threshold& threshold) const {
    return fmt::format("{} {} {}", wording.Of(threshold.quantity),
                       negated ? "<" : ">=", threshold.value * threshold.quantity.unit);
  }
  std::string operator()(const Digit& digit) const {
    return fmt::format("{} counts {} {}", wording.Of(digit.quantity), negated ? "no" : "a",
                       digit.worth * digit.quantity.unit);
  }
  std::string operator()(const LiesBelow& order) const {
    const auto [low, high] =
        negated ? std::pair(order.second, order.first) : std::pair(order.first, order.second);
    return fmt::format("{} below {}", wording.OfBuffer(low), wording.OfBuffer(high));
  }
  std::string operator()(const BankTouch& bank_touch) const {
    const int memory = problem.buffers[static_cast<size_t>(bank_touch.buffer)].memory;
    return fmt::format("{} {} {}", wording.OfBuffer(bank_touch.buffer),
                       negated ? "does not touch" : "touches",
                       wording.OfBank(memory, bank_touch.bank));
  }
  std::string operator()(const ModeChoice& mode) const {
    return fmt::format("mode of {} at step {} is {}{}", wording.OfMemory(mode.memory), mode.step,
                       negated ? "not " : "", wording.OfMode(mode.memory, mode.mode));
  }
  std::string operator()(const CandidateChoice& candidate) const {
    return fmt::format("candidate is {}{}", negated ? "not " : "",
                       wording.OfCandidate(candidate.candidate));
  }
  std::string operator()(const CapacityChoice& limit) const {
    return fmt::format("capacity of {} is {}{}", wording.OfMemory(0), negated ? "not " : "",
                       limit.capacity);
  }
  std::string operator()(const PortCount& port_count) const {
    const std::string_view users = !port_count.kind                                 ? "accessed"
                                   : *port_count.kind == problem::AccessKind::kRead ? "read"
                                                                                    : "written";
    return fmt::format("{} {} of the first {} buffers {} at step {} touch {}",
                       negated ? "fewer than" : "at least", port_count.held, port_count.among,
                       users, port_count.step, wording.OfBank(port_count.memory, port_count.bank));
  }
};

struct TopicWords {
  std::string_view name;
  std::string_view sentence;
};

constexpr std::array<TopicWords, kTopicCount> kTopics = {{
    {"offsets", "each buffer starts at a multiple of its alignment and ends within its memory"},
    {"liveness", "buffers that live together share no byte"},
    {"relations", "buffers lie to each other as the problem relates them"},
    {"addresses",
     "no buffer touches reserved ranges, forbidden banks or boundaries that its span must not "
     "cross"},
    {"banks", "which banks a buffer touches follows from its first and last byte"},
    {"modes",
     "each memory has one mode at each step, which follows the one before and allows every access"},
    {"ports", "a bank serves at most as many buffers in a step as it has ports"},
    {"rules", "buffers lie as the rules of the hardware ask"},
    {"sizes", "buffers have the sizes of one candidate"},
    {"capacity", "buffers end within the capacity"},
    {"costs", "the total counts every reuse and every switch of modes that costs"},
}};

}  // namespace

std::string Wording::Of(const Quantity& quantity) const {
  switch (quantity.kind) {
    case Quantity::Kind::kOffset:
      break;
    case Quantity::Kind::kEnd:
      return fmt::format("end of {}", OfBuffer(quantity.buffer));
    case Quantity::Kind::kRemainder:
      return fmt::format("(offset of {} mod {})", OfBuffer(quantity.buffer), quantity.modulus);
    case Quantity::Kind::kCommonDelta:
      return fmt::format(
          "delta of {}",
          base::Printable(Describe(problem_.rules[static_cast<size_t>(quantity.buffer)])));
  }
  return fmt::format("offset of {}", OfBuffer(quantity.buffer));
}

std::string Wording::Of(const Meaning& meaning, bool negated) const {
  return std::visit(Sentence{*this, problem_, negated}, meaning);
}

std::string Wording::OfBuffer(int buffer) const {
  return base::Printable(problem_.buffers[static_cast<size_t>(buffer)].id);
}

std::string Wording::OfMemory(int memory) const {
  return NameAmong(problem_.memories, memory, "memory");
}

std::string Wording::OfBank(int memory, int bank) const {
  return NameAmong(problem_.memories[static_cast<size_t>(memory)].banks, bank, "bank");
}

std::string Wording::OfMode(int memory, int mode) const {
  return NameAmong(problem_.memories[static_cast<size_t>(memory)].modes, mode, "mode");
}

std::string Wording::OfCandidate(int candidate) const {
  return ladder_ == nullptr ? fmt::format("candidate {}", candidate)
                            : NameAmong(ladder_->candidates, candidate, "candidate");
}

std::string_view NameOf(Topic topic) { return kTopics[static_cast<size_t>(topic)].name; }

std::string_view SentenceOf(Topic topic) { return kTopics[static_cast<size_t>(topic)].sentence; }

}  // namespace tessera::encoder::formulation
