// SPDX-License-Identifier: Apache-2.0

#include "homes_rule.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/state_aliasing.h"
#include "tessera/graph/graph.h"

namespace tessera::audit {
namespace {

using base::TensorRole;
using graph::Graph;
using hw_profiles::Profile;

TensorRole RoleOf(const graph::Tensor& tensor) {
  if (tensor.constant) return TensorRole::kConstant;
  if (tensor.state || tensor.next_of >= 0) return TensorRole::kState;
  if (tensor.network_input) return TensorRole::kNetworkInput;
  return tensor.network_output ? TensorRole::kNetworkOutput : TensorRole::kBoundary;
}

const hw_profiles::RoleLayout& LayoutOf(const graph::Tensor& tensor, const Profile& profile) {
  return profile.roles.at(static_cast<size_t>(RoleOf(tensor)));
}

struct Facts {
  bool several = false;  // has several homes
  int role = 0;          // position in the order of roles
  int64_t bytes = 0;
  int level = 0;
  std::string id;
  size_t tensor = 0;
  int maker = -1;
  std::vector<int> readers;
  bool stays = false;  // lives to the end
  bool comes_and_goes = false;
};

class Rule {
 public:
  Rule(const Graph& network, const Profile& profile) : network_(network), profile_(profile) {
    const size_t operators = network.operators.size();
    needs_.assign(operators, std::vector<char>(operators, 0));
    std::vector<int> levels(operators, 1);
    const std::vector<graph::Usage> usages = graph::UsagesOf(network);
    for (size_t op = 0; op < operators; ++op) {
      needs_[op][op] = 1;
      for (const int input : network.operators[op].inputs) {
        const int maker = usages[static_cast<size_t>(input)].producer;
        if (maker < 0) continue;
        levels[op] = std::max(levels[op], levels[static_cast<size_t>(maker)] + 1);
        for (size_t other = 0; other < operators; ++other)
          needs_[op][other] |= needs_[static_cast<size_t>(maker)][other];
      }
    }
    for (size_t i = 0; i < usages.size(); ++i) {
      const graph::Tensor& tensor = network.tensors[i];
      Facts facts;
      facts.several = !LayoutOf(tensor, profile).next_homes.empty();
      const TensorRole order[] = {TensorRole::kState, TensorRole::kNetworkInput,
                                  TensorRole::kNetworkOutput, TensorRole::kConstant,
                                  TensorRole::kBoundary};
      while (order[facts.role] != RoleOf(tensor)) ++facts.role;
      facts.bytes = BytesOf(static_cast<int>(i), usages[i]);
      facts.maker = usages[i].producer;
      facts.readers = usages[i].consumers;
      if (facts.maker >= 0) {
        facts.level = levels[static_cast<size_t>(facts.maker)];
      } else {
        for (const int reader : facts.readers) {
          const int level = levels[static_cast<size_t>(reader)];
          facts.level = facts.level == 0 ? level : std::min(facts.level, level);
        }
      }
      facts.id = tensor.id;
      facts.tensor = i;
      facts.stays = facts.readers.empty() || tensor.network_output;
      facts.comes_and_goes =
          RoleOf(tensor) != TensorRole::kConstant && RoleOf(tensor) != TensorRole::kState;
      tensors_.push_back(std::move(facts));
    }
    std::sort(tensors_.begin(), tensors_.end(), [](const Facts& a, const Facts& b) {
      if (a.several != b.several) return b.several;
      if (a.role != b.role) return a.role < b.role;
      if (a.bytes != b.bytes) return a.bytes > b.bytes;
      if (a.level != b.level) return a.level < b.level;
      return a.id < b.id;
    });
  }

  std::vector<int> Run() {
    std::vector<int> homes(tensors_.size(), -1);
    lines_.resize(profile_.memories.size());
    for (const Facts& facts : tensors_) {
      if (homes[facts.tensor] >= 0) continue;
      const hw_profiles::RoleLayout& layout = LayoutOf(network_.tensors[facts.tensor], profile_);
      std::vector<int> list = {layout.home};
      for (const int next : layout.next_homes) list.push_back(next);
      const Facts* partner = PartnerOf(facts);
      for (const int memory : list) {
        std::vector<std::vector<Facts>> with = With(facts, lines_[static_cast<size_t>(memory)]);
        if (partner != nullptr) with = With(*partner, std::move(with));
        const bool tiles = memory == profile_.tile_memory;
        const int64_t needed = tiles ? NeededByStates(with) : NeededBy(with, memory);
        const int64_t room = tiles ? RoomIn(memory) / 2 : RoomIn(memory);
        const bool suits = !tiles || SuitsBanks(facts, partner);
        if (memory != list.back() && (needed > room || !suits)) continue;
        homes[facts.tensor] = memory;
        if (partner != nullptr) homes[partner->tensor] = memory;
        lines_[static_cast<size_t>(memory)] = std::move(with);
        break;
      }
    }
    return homes;
  }

 private:
  // The next value of a state, or the state of a next value; nullptr: none.
  const Facts* PartnerOf(const Facts& facts) const {
    const auto found = std::find_if(tensors_.begin(), tensors_.end(), [&](const Facts& other) {
      return network_.tensors[other.tensor].next_of == static_cast<int>(facts.tensor) ||
             network_.tensors[facts.tensor].next_of == static_cast<int>(other.tensor);
    });
    return found == tensors_.end() ? nullptr : &*found;
  }

  // No mode lets a step read and write one bank, and each state may have to lie inside one.
  bool SuitsBanks(const Facts& facts, const Facts* partner) const {
    const hw_profiles::Memory& memory =
        profile_.memories[static_cast<size_t>(profile_.tile_memory)];
    if (partner != nullptr && memory.modes.size() > 1) return false;
    if (memory.span != problem::Span::kSingle) return true;
    int64_t most = 0;
    for (const problem::Bank& bank : memory.banks)
      most = std::max(most, bank.range.end - bank.range.begin);
    return Rounded(facts, profile_.tile_memory) <= most &&
           (partner == nullptr || Rounded(*partner, profile_.tile_memory) <= most);
  }

  // In the tile memory. Other tensors at home there do not count.
  int64_t NeededByStates(const std::vector<std::vector<Facts>>& lines) const {
    int64_t sum = 0;
    for (const std::vector<Facts>& line : lines) {
      for (const Facts& facts : line) {
        if (RoleOf(network_.tensors[facts.tensor]) != TensorRole::kState) continue;
        const Facts* partner = PartnerOf(facts);
        const int64_t bytes = Rounded(facts, profile_.tile_memory);
        const bool together = partner != nullptr && MayBeOne(facts, *partner);
        if (!together) {
          sum += bytes;
        } else if (facts.tensor < partner->tensor) {  // the larger one, once for both
          sum += std::max(bytes, Rounded(*partner, profile_.tile_memory));
        }
      }
    }
    return sum;
  }

  // Whether the next value lies over the state if the other readers of the state come first, which
  // they can unless they need the maker.
  bool MayBeOne(const Facts& a, const Facts& b) const {
    const Facts& next = network_.tensors[a.tensor].next_of >= 0 ? a : b;
    const Facts& state = &next == &a ? b : a;
    Profile here = profile_;
    here.roles.at(static_cast<size_t>(TensorRole::kState)).home = profile_.tile_memory;
    here.roles.at(static_cast<size_t>(TensorRole::kState)).next_homes.clear();
    const std::vector<int> order = WithReadersFirst(state, next.maker);
    if (order.empty()) return false;
    const Graph reordered = graph::Reordered(network_, order);
    const std::vector<int> in_place =
        encoder::program::NextInPlace(reordered, graph::UsagesOf(reordered), here);
    return std::any_of(in_place.begin(), in_place.end(), [&](int tensor) {
      return reordered.tensors[static_cast<size_t>(tensor)].id == next.id;
    });
  }

  // An order in which all other readers of the state come before the maker of its next value; empty
  // if there is none.
  std::vector<int> WithReadersFirst(const Facts& state, int maker) const {
    const auto count = static_cast<int>(needs_.size());
    std::vector<int> order;
    const auto needs = [&](int op, int other) {
      return needs_[static_cast<size_t>(op)][static_cast<size_t>(other)] != 0;
    };
    for (const int reader : state.readers) {
      if (reader != maker && needs(reader, maker)) return {};
    }
    for (int op = 0; op < count; ++op) {
      if (!needs(op, maker)) order.push_back(op);
    }
    for (int op = 0; op < count; ++op) {
      if (needs(op, maker)) order.push_back(op);
    }
    return order;
  }

  int64_t BytesOf(int index, const graph::Usage& usage) const {
    const graph::Tensor& tensor = network_.tensors[static_cast<size_t>(index)];
    if (tensor.constant)
      return encoder::program::ConstantBytes(network_, profile_, index, usage.consumers);
    return encoder::program::FeatureBytes(LayoutOf(tensor, profile_), tensor.type,
                                          encoder::program::NameExtents(tensor.shape, tensor.shape),
                                          {});
  }

  bool GoneBefore(const Facts& a, const Facts& b) const {
    if (a.stays || b.maker < 0) return false;
    return std::all_of(a.readers.begin(), a.readers.end(), [&](int reader) {
      return needs_[static_cast<size_t>(b.maker)][static_cast<size_t>(reader)] != 0;
    });
  }

  std::vector<std::vector<Facts>> With(const Facts& facts,
                                       std::vector<std::vector<Facts>> lines) const {
    for (std::vector<Facts>& line : lines) {
      bool joins = facts.comes_and_goes;
      for (const Facts& other : line) {
        joins =
            joins && other.comes_and_goes && (GoneBefore(facts, other) || GoneBefore(other, facts));
      }
      if (!joins) continue;
      line.push_back(facts);
      return lines;
    }
    lines.push_back({facts});
    return lines;
  }

  int64_t NeededBy(const std::vector<std::vector<Facts>>& lines, int memory) const {
    int64_t sum = 0;
    for (const std::vector<Facts>& line : lines) {
      int64_t first = 0;
      int64_t second = 0;
      for (const Facts& facts : line) {
        const int64_t bytes = Rounded(facts, memory);
        if (bytes > first) {
          second = first;
          first = bytes;
        } else if (bytes > second) {
          second = bytes;
        }
      }
      sum += first + second;
    }
    return sum;
  }

  int64_t Rounded(const Facts& facts, int memory) const {
    int64_t bytes = facts.bytes;
    const auto* link = hw_profiles::LinkBetween(profile_, memory, profile_.tile_memory);
    const int64_t of_role = LayoutOf(network_.tensors[facts.tensor], profile_).alignment_bytes;
    const int64_t of_link = link == nullptr ? 1 : link->alignment_bytes;
    while (bytes % of_role != 0 || bytes % of_link != 0) ++bytes;
    return base::RoundUp(bytes, profile_.memories.at(static_cast<size_t>(memory)).alignment_bytes);
  }

  // Counts byte by byte. The loop is short: only small memories have reserved ranges here.
  int64_t RoomIn(int memory) const {
    const hw_profiles::Memory& facts = profile_.memories.at(static_cast<size_t>(memory));
    if (facts.reserved.empty()) return facts.capacity_bytes;
    int64_t room = 0;
    for (int64_t byte = 0; byte < facts.capacity_bytes; ++byte) {
      room += std::none_of(facts.reserved.begin(), facts.reserved.end(),
                           [byte](const problem::Reserved& reserved) {
                             return reserved.range.begin <= byte && byte < reserved.range.end;
                           })
                  ? 1
                  : 0;
    }
    return room;
  }

  const Graph& network_;
  const Profile& profile_;
  std::vector<std::vector<char>> needs_;  // whether an operator needs another, itself included
  std::vector<Facts> tensors_;            // in the order in which they are taken
  std::vector<std::vector<std::vector<Facts>>> lines_;  // by memory
};

}  // namespace

std::vector<int> HomesByRule(const Graph& network, const Profile& profile) {
  return Rule(network, profile).Run();
}

bool HasStatesElsewhere(const Graph& network, const Profile& profile) {
  const std::vector<int> homes = HomesByRule(network, profile);
  for (size_t i = 0; i < homes.size(); ++i) {
    if (network.tensors[i].state && homes[i] != profile.tile_memory) return true;
  }
  return false;
}

graph::Graph AtHome(Graph network, const Profile& profile) {
  const std::optional<double> ratio =
      profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].stored_ratio;
  for (graph::Tensor& tensor : network.tensors) {
    if (!ratio || !tensor.constant || tensor.stored_bytes > 0) continue;
    const int64_t bytes = base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape));
    tensor.stored_bytes =
        static_cast<int64_t>(std::ceil(static_cast<double>(bytes) * *ratio * (1 - 0x1p-44)));
    tensor.stored_by_ratio = true;
  }
  const std::vector<int> homes = HomesByRule(network, profile);
  for (size_t i = 0; i < homes.size(); ++i) {
    const hw_profiles::RoleLayout& layout = LayoutOf(network.tensors[i], profile);
    const auto at = std::find(layout.next_homes.begin(), layout.next_homes.end(), homes[i]);
    network.tensors[i].home =
        homes[i] == layout.home ? 0 : static_cast<int>(at - layout.next_homes.begin()) + 1;
  }
  return network;
}

int StatedHome(const graph::Tensor& tensor, const Profile& profile) {
  const hw_profiles::RoleLayout& layout = LayoutOf(tensor, profile);
  return tensor.home == 0 ? layout.home
                          : layout.next_homes.at(static_cast<size_t>(tensor.home) - 1);
}

}  // namespace tessera::audit
