// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/program_template.h"

namespace tessera::encoder::program {

using problem::Lifespan;

SharedPlaces::SharedPlaces(std::span<const problem::Buffer> buffers,
                           std::span<const problem::Relation> relations)
    : buffers_(buffers), place_(buffers.size()), guests_(buffers.size()) {
  std::iota(place_.begin(), place_.end(), size_t{0});
  for (size_t i = 0; i < guests_.size(); ++i) guests_[i].push_back(i);
  for (const problem::Relation& relation : relations) {
    if (relation.kind == problem::RelationKind::kColocate) Join(relation);
  }
}

// More than two buffers can share a place: if b took the place of a, and c is to take the place of
// b, all three lie at one address. So c must be disjoint in time from every buffer of that place,
// not only from b: a may be a loaded tile that is filled again in the pass in which c still leaves.
// The same applies to buffers that have already taken the place of c.
//
//     a   |-----------|          |--           place of b: {a, b}
//     b               |-----|                  place of c: {c, d}
//     c                    |-------|           only b and c may meet, while c is made of b
//     d                            |--------|
bool SharedPlaces::MayJoin(size_t operand, size_t result, std::span<const Lifespan> turns) const {
  if (operands_.contains(operand) || results_.contains(result)) return false;
  for (const size_t there : guests_[place_[operand]]) {
    for (const size_t coming : guests_[place_[result]]) {
      const bool meet = there == operand && coming == result;
      if (!ShareOnly(meet ? turns : std::span<const Lifespan>(), there, coming)) return false;
    }
  }
  return true;
}

void SharedPlaces::Join(const problem::Relation& relation) {
  const auto operand = static_cast<size_t>(relation.first);
  const auto result = static_cast<size_t>(relation.second);
  operands_.insert(operand);
  results_.insert(result);
  if (place_[operand] == place_[result]) return;
  std::vector<size_t>& there = guests_[place_[operand]];
  const std::vector<size_t> coming = std::exchange(guests_[place_[result]], {});
  for (const size_t guest : coming) place_[guest] = place_[operand];
  there.insert(there.end(), coming.begin(), coming.end());
}

// Whether the lives have in common only steps of one of the turns.
bool SharedPlaces::ShareOnly(std::span<const Lifespan> turns, size_t a, size_t b) const {
  for (const Lifespan& x : buffers_[a].lifespans) {
    for (const Lifespan& y : buffers_[b].lifespans) {
      const Lifespan shared = {std::max(x.lower, y.lower), std::min(x.upper, y.upper)};
      const auto covers = [&shared](const Lifespan& turn) {
        return turn.lower <= shared.lower && shared.upper <= turn.upper;
      };
      if (shared.lower < shared.upper && std::none_of(turns.begin(), turns.end(), covers))
        return false;
    }
  }
  return true;
}

// A depthwise operator makes channel c of y from channel c of x. It can work channel by channel,
// each through a scratch buffer that holds one channel until all of that channel of x is read. Then
// y may overwrite x, provided that no part of channel c is written to a later channel. In each
// column the channels are adjacent, so this holds whenever columns of x and y begin at the same
// places:
//
//     x, 4 columns of channels a b c    | a b c | a b c | a b c | a b c |
//     y, stride 2                       | a b c | a b c |
//
// This requires that a column takes P bytes in both, and that rows begin at a multiple of P from
// the begin of the buffer in both, because P divides the row pitch. The numbers of rows, columns
// and batches do not matter: y may be smaller or larger than x. A row pitch that is not a multiple
// of a column is refused, and so are elements that share a byte with the next channel.
//
// Ji Lin et al., "MCUNetV2", 2021, describe it for layers of stride 1 and 2.
//
// Cost: tile classes for each depthwise operator.

namespace {

// The layout of the channels of one tensor.
struct Columns {
  const hw_profiles::RoleLayout* layout = nullptr;
  int64_t bytes = 0;              // of one column
  std::vector<int64_t> channels;  // held by tiles of each class
};

class Comparison {
 public:
  Comparison(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const graph::tiling::TiledSubgraph& tiling, const SubgraphUses& uses)
      : graph_(graph), profile_(profile), tiling_(tiling), uses_(uses) {}

  // Whether an adjacent tile reads a whole operand again.
  bool IsReadByOtherTiles(int operand) const {
    return tiling_.tiles > 1 && UseOf(uses_, operand).residence == Residence::kWhole;
  }

  bool HaveAlikeColumns(int operand, int result) const {
    const Columns x = ColumnsOf(operand);
    const Columns y = ColumnsOf(result);
    const auto divides = [](const Columns& columns) {
      return columns.bytes % columns.layout->row_pitch_bytes == 0;
    };
    return x.bytes == y.bytes && x.channels == y.channels && divides(x) && divides(y);
  }

 private:
  Columns ColumnsOf(int tensor) const {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    const TensorUse& use = UseOf(uses_, tensor);
    const size_t axis = *graph::tiling::AxisOf(facts.shape, base::Axis::kChannels);
    const bool whole = use.residence == Residence::kWhole;
    const size_t slot = graph::tiling::SlotOf(tiling_, tensor);
    Columns columns;
    columns.layout = &hw_profiles::LayoutOf(profile_, use.role);
    const int64_t most = whole ? facts.shape[axis] : tiling_.largest[slot][axis];
    columns.bytes = FeatureBytes({.channel_block = columns.layout->channel_block}, facts.type,
                                 {.channels = most}, {});
    for (const graph::tiling::TileClass& tiles : tiling_.classes)
      columns.channels.push_back(whole ? facts.shape[axis] : tiles.needed[slot][axis]);
    return columns;
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const graph::tiling::TiledSubgraph& tiling_;
  const SubgraphUses& uses_;
};

}  // namespace

bool WorksByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const graph::Operator& op) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  if (op.kind != base::OperatorKind::kDepthwise ||
      std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end())
    return false;
  const graph::Tensor& x = graph.tensors[static_cast<size_t>(op.inputs.front())];
  const graph::Tensor& y = graph.tensors[static_cast<size_t>(op.outputs.front())];
  const size_t channels = *graph::tiling::AxisOf(x.shape, base::Axis::kChannels);
  return x.type == y.type && base::BitsOf(x.type) % 8 == 0 &&
         x.shape[channels] == y.shape[channels];
}

void MarkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::tiling::TiledSubgraph& tiling, SubgraphUses& uses) {
  const Comparison comparison(graph, profile, tiling, uses);
  uses.by_channel.clear();
  for (int k = 0; k < uses.Operators(); ++k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    if (WorksByChannel(graph, profile, op) && !comparison.IsReadByOtherTiles(op.inputs.front()) &&
        comparison.HaveAlikeColumns(op.inputs.front(), op.outputs.front()))
      uses.by_channel.push_back(k);
  }
}

problem::Bytes ChannelBytes(const graph::Graph& graph, const graph::tiling::TiledSubgraph& tiling,
                            const graph::Operator& op) {
  const int result = op.outputs.front();
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(result)];
  const NamedExtents made =
      NameExtents(facts.shape, tiling.largest[graph::tiling::SlotOf(tiling, result)]);
  return base::BytesOf(facts.type, made.batch * made.rows * made.columns);
}

// A result may take the place of an operand if nothing is overwritten before it is read, and no
// later operator, neighbouring tile or transfer needs the operand: the lives of the two share only
// the operator's own step (SharedPlaces).
//
//     x   |-----------|             x   |-----------|
//     y             |--------|      y        |-------------|    y begins while x is still needed:
//                  C_k                      C_k                 not in place
//
// Nothing is overwritten too early if element i of both lies at the same address, and each element
// of y depends only on that of x; or if the operator works channel by channel (above). Operators of
// the latter kind are decided first, because their scratch must be known before any size is.
//
// Cost: for each operator, its inputs times tile classes, plus the buffers.

namespace {

using problem::Lifespan;
using problem::Relation;

class InPlaceFinder {
 public:
  InPlaceFinder(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const ProgramTemplate& program_template, int subgraph, SharedPlaces& places,
                std::vector<Relation>& relations)
      : graph_(graph),
        profile_(profile),
        program_template_(program_template),
        uses_(program_template.uses[static_cast<size_t>(subgraph)]),
        timeline_(program_template.timelines[static_cast<size_t>(subgraph)]),
        subgraph_(subgraph),
        relations_(relations),
        places_(places) {}

  // Puts the result of operator k in the place of the operand for every phase, if the two buffers
  // are `alike` and it is allowed. Returns whether it did.
  bool Colocate(int k, int operand, int result, const std::function<bool(size_t, size_t)>& alike) {
    if (ArePadded(operand, result) || IsWantedAfterwards(operand) || IsUnread(result)) return false;
    if (UseOf(uses_, operand).cached || UseOf(uses_, result).cached) return false;
    std::vector<Relation> relations;
    for (size_t phase = 0; phase < timeline_.Phases(); ++phase) {
      const std::optional<size_t> from = BufferOf(operand, phase);
      const std::optional<size_t> to = BufferOf(result, phase);
      if (!from || !to || !alike(*from, *to) || !places_.MayJoin(*from, *to, TurnsOf(k, phase)))
        return false;
      relations.push_back({problem::RelationKind::kColocate, static_cast<int>(*from),
                           static_cast<int>(*to), /*delta=*/0});
    }
    for (const Relation& relation : relations) places_.Join(relation);
    relations_.insert(relations_.end(), relations.begin(), relations.end());
    return true;
  }

 private:
  // Whether either is stored with pads, which need not be equal for both.
  bool ArePadded(int operand, int result) const {
    const std::vector<graph::Operator>& operators = graph_.operators;
    return !profile_.tiling.implicit_padding &&
           std::any_of(operators.begin(), operators.end(), [&](const graph::Operator& op) {
             const bool reads = std::any_of(op.inputs.begin(), op.inputs.end(), [&](int input) {
               return input == operand || input == result;
             });
             const std::array<int64_t, 2> none = {0, 0};
             return reads && (op.window.pad_low != none || op.window.pad_high != none);
           });
  }

  // The life of a result that ends immediately does not show whether the operand is needed later:
  // the lives are disjoint in any case.
  bool IsUnread(int result) const {
    const TensorUse& use = UseOf(uses_, result);
    return use.residence == Residence::kInside && use.readers.empty();
  }

  // Lifespans end with the program, but the tensor may be needed after it.
  bool IsWantedAfterwards(int operand) const {
    if (UseOf(uses_, operand).residence != Residence::kWhole) return false;
    const graph::Tensor& tensor = graph_.tensors[static_cast<size_t>(operand)];
    const auto beyond = graph_.operators.begin() + uses_.interval.last + 1;
    return tensor.network_output || tensor.state ||
           std::any_of(beyond, graph_.operators.end(), [&](const graph::Operator& op) {
             return std::find(op.inputs.begin(), op.inputs.end(), operand) != op.inputs.end();
           });
  }

  // The steps at which operator k works on tiles of that phase.
  std::vector<Lifespan> TurnsOf(int k, size_t phase) const {
    std::vector<Lifespan> turns;
    for (size_t q = phase; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      turns.push_back(
          {pass.first[static_cast<size_t>(k)], pass.compute[static_cast<size_t>(k)] + 1});
    }
    return turns;
  }

  // The buffer that holds a tensor for tiles of this phase. A whole buffer serves a single pass
  // only.
  std::optional<size_t> BufferOf(int tensor, size_t phase) const {
    const std::vector<BufferUse>& buffers = program_template_.program.buffers;
    const auto found = std::find_if(buffers.begin(), buffers.end(), [&](const BufferUse& buffer) {
      if (buffer.tensor != tensor || buffer.phase != static_cast<int>(phase)) return false;
      return buffer.kind == BufferKind::kWhole ||
             (buffer.kind == BufferKind::kTile && buffer.subgraph == subgraph_);
    });
    if (found == buffers.end()) return std::nullopt;
    return static_cast<size_t>(found - buffers.begin());
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const ProgramTemplate& program_template_;
  const SubgraphUses& uses_;
  const Timeline& timeline_;
  int subgraph_;
  std::vector<Relation>& relations_;
  SharedPlaces& places_;
};

// Whether the operator's description lets the result overwrite this operand: it lists every input
// that is this tensor, and reads each element where it writes the element with the same
// coordinates.
bool AllowsInPlace(const graph::Operator& op, int operand) {
  for (size_t number = 0; number < op.inputs.size(); ++number) {
    if (op.inputs[number] != operand) continue;
    const bool named =
        std::count(op.in_place.begin(), op.in_place.end(), static_cast<int>(number)) > 0;
    if (!named || op.accesses[number].kind != graph::ReadPattern::kElementwise) return false;
  }
  return true;
}

// The inputs that may be overwritten element by element, in their order, by the profile or by the
// operator's own description.
std::vector<int> OverwritableOf(const graph::Operator& op, const hw_profiles::Profile& profile) {
  std::vector<int> inputs;
  std::copy_if(op.inputs.begin(), op.inputs.end(), std::back_inserter(inputs),
               [&op](int operand) { return AllowsInPlace(op, operand); });
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  const bool named = std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
  return named && op.kind == base::OperatorKind::kElementwise ? op.inputs : inputs;
}

// Whether every tile holds the elements of both in the same order.
bool LieAlike(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling, int operand,
              int result) {
  const graph::Tensor& x = graph.tensors[static_cast<size_t>(operand)];
  const graph::Tensor& y = graph.tensors[static_cast<size_t>(result)];
  if (operand == result || x.type != y.type || x.shape != y.shape) return false;
  const hw_profiles::RoleLayout& x_layout =
      hw_profiles::LayoutOf(profile, UseOf(uses, operand).role);
  const hw_profiles::RoleLayout& y_layout =
      hw_profiles::LayoutOf(profile, UseOf(uses, result).role);
  if (x_layout.channel_block != y_layout.channel_block) return false;
  if (x_layout.row_pitch_bytes != y_layout.row_pitch_bytes) return false;
  const bool is_one_whole = (UseOf(uses, operand).residence == Residence::kWhole) !=
                            (UseOf(uses, result).residence == Residence::kWhole);
  const size_t x_slot = graph::tiling::SlotOf(tiling, operand);
  const size_t y_slot = graph::tiling::SlotOf(tiling, result);
  return std::all_of(tiling.classes.begin(), tiling.classes.end(),
                     [&](const graph::tiling::TileClass& tiles) {
                       return tiles.needed[x_slot] == tiles.needed[y_slot] &&
                              (!is_one_whole || tiles.needed[x_slot] == x.shape);
                     });
}

}  // namespace

void AddByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  ProgramTemplate& program_template, int subgraph, SharedPlaces& places,
                  std::vector<Relation>& relations) {
  InPlaceFinder finder(graph, profile, program_template, subgraph, places, relations);
  SubgraphUses& uses = program_template.uses[static_cast<size_t>(subgraph)];
  std::erase_if(uses.by_channel, [&](int k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    return !finder.Colocate(k, op.inputs.front(), op.outputs.front(),
                            [](size_t, size_t) { return true; });
  });
}

void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const ProgramTemplate& program_template, int subgraph,
                const graph::tiling::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                SharedPlaces& places, std::vector<Relation>& relations) {
  InPlaceFinder finder(graph, profile, program_template, subgraph, places, relations);
  const SubgraphUses& uses = program_template.uses[static_cast<size_t>(subgraph)];
  const auto same_size = [&sizes](size_t a, size_t b) { return sizes[a] == sizes[b]; };
  for (int k = 0; k < uses.Operators(); ++k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    for (const int operand : OverwritableOf(op, profile)) {
      const int result = op.outputs.front();
      if (LieAlike(graph, profile, uses, tiling, operand, result) &&
          finder.Colocate(k, operand, result, same_size))
        break;
    }
  }
}

}  // namespace tessera::encoder::program
