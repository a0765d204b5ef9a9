// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/home_tiles.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/passes.h"
#include "tessera/problem/validator.h"

// The program runs once more (passes.h), over the steps that the derivation has laid out. Time is
// counted in slots: a pass under `double_buffered`, one executed step under `serialized`, and one
// more slot at the end. Each transfer, and each operator that works in a home, extends the lives of
// the bytes that it touches:
//
//     bytes of x   [0 ........ 64 ........ 128)
//     tile 0 reads  ==========                      [0, 64)    until slot 3
//     tile 1 reads        ==============            [32, 96)   until slot 4:   [0, 32) until 3,
//                                                              [32, 96) until 4, [96, 128) ..
namespace tessera::plan::verify {

namespace {

using problem::AddressRange;
using problem::Lifespan;
using problem::Step;

// The lives of a tensor's bytes, as ranges that are split where needed.
class ByteLives {
 public:
  ByteLives(int64_t size, Lifespan whole) { ranges_.emplace(0, LiveRange{size, whole}); }

  void Use(AddressRange range, Lifespan slots) {
    Cut(range.begin);
    Cut(range.end);
    for (auto at = ranges_.lower_bound(range.begin); at != ranges_.end() && at->first < range.end;
         ++at) {
      Lifespan& life = at->second.life;
      life = {std::min(life.lower, slots.lower), std::max(life.upper, slots.upper)};
    }
  }

  size_t Count() const { return ranges_.size(); }

  void AppendTo(std::vector<HomeBytes>& list, int tensor) const {
    for (const auto& [begin, range] : ranges_)
      list.push_back({tensor, {begin, range.end}, range.life});
  }

 private:
  struct LiveRange {
    int64_t end = 0;
    Lifespan life;
  };

  void Cut(int64_t at) {
    const auto after = ranges_.upper_bound(at);
    if (after == ranges_.begin()) return;
    const auto around = std::prev(after);
    if (around->first == at || around->second.end <= at) return;
    LiveRange upper = around->second;
    around->second.end = at;
    ranges_.emplace(at, upper);
  }

  std::map<int64_t, LiveRange> ranges_;  // by begin
};

class HomeRun : private PassVisitor {
 public:
  HomeRun(const Plan& plan, const Derivation& derivation)
      : plan_(plan), derivation_(derivation), users_(FindUsers(plan.network)) {
    for (const HomeStay& stay : FindHomeStays(plan)) {
      if (stay.memory == plan.profile.tile_memory) continue;
      stays_.emplace(stay.tensor, stay);
    }
  }

  std::optional<BytesAtHome> Run() {
    BytesAtHome found;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      const Step begin = begin_;
      RunSubgraph(static_cast<int>(i));
      found.subgraphs.push_back({begin, begin_});
    }
    if (ranges_ > kMostHomeRanges) return std::nullopt;
    for (const auto& [tensor, stay] : stays_) {
      ByteLives lives(stay.size, WholeOf(stay));
      for (const auto& [range, slots] : uses_[tensor]) lives.Use(range, slots);
      lives.AppendTo(found.list, tensor);
    }
    return found;
  }

 private:
  // A tensor is whole from the last slot of the subgraph that makes it, a constant or a state in
  // every slot of the subgraphs in which it is at home.
  Lifespan WholeOf(const HomeStay& stay) const {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(stay.tensor)];
    const Users& users = users_[static_cast<size_t>(stay.tensor)];
    const bool stays = stay.subgraphs.upper >= static_cast<Step>(ends_.size());
    if (IsLasting(stay)) {
      const Step before = stay.subgraphs.lower;
      return {before == 0 ? 0 : ends_[static_cast<size_t>(before - 1)],
              stays ? begin_ : ends_[static_cast<size_t>(stay.subgraphs.upper - 1)]};
    }
    if (users.makers.empty()) return {0, 1};
    const Step made = ends_[static_cast<size_t>(stay.subgraphs.lower)] - 1;
    return {made, facts.network_output || users.readers.empty() ? begin_ : made + 1};
  }

  static bool IsLasting(const HomeStay& stay) {
    return stay.role == base::TensorRole::kConstant || stay.role == base::TensorRole::kState;
  }

  void RunSubgraph(int number) {
    here_.emplace(plan_, users_, number, derivation_.trace.cached[static_cast<size_t>(number)]);
    tiles_.emplace(plan_.network, users_, here_->Current());
    is_double_ = IsDoubleBuffered(plan_, here_->Current());
    const Lifespan own = derivation_.trace.subgraph_steps[static_cast<size_t>(number)];
    const std::vector<SubgraphResidency> none;
    const SubgraphSteps steps = {
        plan_.network, derivation_.trace.steps, {own.lower, own.upper}, *here_, none};
    slot_ = begin_ - 1;
    const int64_t tiles = tiles_->Count();
    (is_double_ ? RunDoubleBuffered : RunSerialized)(steps, tiles, *this);
    begin_ = is_double_ ? begin_ + tiles + 2 : slot_ + 2;
    ends_.push_back(begin_);
  }

  void Enter(Step step, int64_t tile) override {
    const StepKind kind = derivation_.trace.steps[static_cast<size_t>(step)].kind;
    if (!is_double_) {
      ++slot_;
    } else if (kind == StepKind::kPrologue) {
      slot_ = begin_;
    } else if (kind == StepKind::kEpilogue) {
      slot_ = begin_ + tiles_->Count() + 1;
    } else {
      slot_ = begin_ + tile + 1;
    }
  }

  int64_t Begin(const Transfer& transfer) override {
    under_way_.emplace(transfers_, std::pair(transfer, slot_));
    return transfers_++;
  }

  void End(int64_t number) override {
    const auto& [transfer, begun] = under_way_.at(number);
    const auto stay = stays_.find(transfer.tensor);
    if (stay != stays_.end() && !IsLasting(stay->second) && transfer.run.tile >= 0)
      Use(transfer.tensor, BoxOf(transfer), {begun, slot_ + 1});
    under_way_.erase(number);
  }

  // Under split K, a slice is a part of the need of the tile, and all slices together are the whole
  // need.
  Box BoxOf(const Transfer& transfer) const {
    const Tile tile = tiles_->At(transfer.run.tile);
    if (transfer.kind == Transfer::Kind::kSlice) return HeldOf(tile, transfer.tensor);
    const auto share = tile.shares.find(transfer.tensor);
    const bool stores = transfer.kind == Transfer::Kind::kStore && share != tile.shares.end();
    return stores ? share->second : MadeOf(tile, transfer.tensor);
  }

  int64_t RoundsOf(int op) override { return here_->RoundsOf(op); }

  // The bytes that the operator reads and writes in its home.
  void Compute(int op, const RunIndex& run, Step /*step*/) override {
    const graph::Operator& facts = here_->At(op);
    std::optional<Tile> tile;
    const auto touch = [&](int tensor, bool writes) {
      const auto stay = stays_.find(tensor);
      if (stay == stays_.end() || IsLasting(stay->second)) return;
      if (!here_->Is(tensor, Residency::kDirect)) return;
      if (!tile) tile = tiles_->At(run.tile);
      const auto need = tile->needs.find(tensor);
      const Box& box = writes || need == tile->needs.end() ? MadeOf(*tile, tensor) : need->second;
      Use(tensor, box, {slot_, slot_ + 1});
    };
    for (const int tensor : facts.inputs) touch(tensor, false);
    for (const int tensor : facts.outputs) touch(tensor, true);
  }

  void Restore(int /*op*/, const RunIndex& /*run*/, Step /*step*/) override {}
  void Save(int /*op*/, const RunIndex& /*run*/, int /*next*/, Step /*step*/) override {}
  void Refuse(const std::string& /*why*/) override {}

  // Joins uses of adjacent bytes.
  void Use(int tensor, const Box& box, Lifespan slots) {
    if (IsEmpty(box) || ranges_ > kMostHomeRanges) return;
    const HomeLayout& layout = layouts_.try_emplace(tensor, plan_, tensor).first->second;
    auto& uses = uses_[tensor];
    for (const AddressRange& bytes : layout.BytesOf(box)) {
      if (!uses.empty() && uses.back().second == slots && uses.back().first.begin <= bytes.begin &&
          bytes.begin <= uses.back().first.end) {
        uses.back().first.end = std::max(uses.back().first.end, bytes.end);
        continue;
      }
      uses.emplace_back(bytes, slots);
      ++ranges_;
    }
  }

  const Plan& plan_;
  const Derivation& derivation_;
  const std::vector<Users> users_;
  std::map<int, HomeStay> stays_;  // by tensor
  std::map<int, HomeLayout> layouts_;
  std::map<int, std::vector<std::pair<AddressRange, Lifespan>>> uses_;  // by tensor
  size_t ranges_ = 0;
  std::optional<SubgraphResidency> here_;
  std::optional<Tiles> tiles_;
  bool is_double_ = false;
  Step begin_ = 1;  // slot 0 is before the program
  Step slot_ = 0;
  std::vector<Step> ends_;  // by subgraph
  std::map<int64_t, std::pair<Transfer, Step>> under_way_;
  int64_t transfers_ = 0;
};

// The bytes of one home as separate buffers, at the plan's addresses.
class TiledHomeCheck {
 public:
  TiledHomeCheck(const Plan& plan, const std::vector<HomeBytes>& bytes, Findings& findings)
      : plan_(plan), bytes_(bytes), findings_(findings) {}

  void Check(const Home& home) {
    std::map<int, problem::Bytes> bases;
    for (size_t i = 0; i < home.tensors.size(); ++i)
      bases.emplace(home.tensors[i], home.allocation.offsets[i]);
    problem::Problem problem;
    problem.memories = {HomeMemory(plan_.profile, home.memory)};
    std::vector<problem::Bytes> offsets;
    std::vector<int> tensors;
    for (const HomeBytes& each : bytes_) {
      const auto base = bases.find(each.tensor);
      if (base == bases.end()) continue;
      problem::Buffer& buffer = problem.buffers.emplace_back();
      buffer.size = each.bytes.end - each.bytes.begin;
      buffer.lifespans = {each.slots};
      offsets.push_back(base->second + each.bytes.begin);
      tensors.push_back(each.tensor);
    }
    constexpr size_t kMost = 10;
    for (const problem::Overlap& overlap : problem::FindOverlaps(problem, offsets, kMost)) {
      findings_.Note(
          ViolationKind::kAllocation,
          fmt::format("home '{}': tensors '{}' and '{}' both need bytes [{}, {}) in slot {}",
                      problem.memories.front().name, IdOf(tensors[overlap.first]),
                      IdOf(tensors[overlap.second]), overlap.shared.begin, overlap.shared.end,
                      overlap.step));
    }
    CheckBound(home, problem::Bytes{LeastLoadOf(problem)});
  }

 private:
  const std::string& IdOf(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)].id;
  }

  static problem::Bytes LeastLoadOf(const problem::Problem& problem) {
    std::map<Step, problem::Bytes> changes;
    for (const problem::Buffer& buffer : problem.buffers) {
      changes[buffer.lifespans.front().lower] += buffer.size;
      changes[buffer.lifespans.front().upper] -= buffer.size;
    }
    problem::Bytes load = 0, greatest = 0;
    for (const auto& [slot, change] : changes) greatest = std::max(greatest, load += change);
    return greatest;
  }

  void CheckBound(const Home& home, problem::Bytes load) {
    const bool is_repeatable = plan_.run.searched && !plan_.run.cut_off;
    if (!is_repeatable && home.lower_bound == 0) return;
    if (is_repeatable && home.lower_bound >= load && home.lower_bound <= PeakOf(home)) return;
    findings_.Note(
        ViolationKind::kMetric,
        fmt::format("home '{}' states that no placement is below {} bytes, but {} bytes are needed "
                    "at once and the peak is {}",
                    home.problem.memories.front().name, home.lower_bound, load, PeakOf(home)));
  }

  const Plan& plan_;
  const std::vector<HomeBytes>& bytes_;
  Findings& findings_;
};

}  // namespace

std::optional<BytesAtHome> FindHomeBytes(const Plan& plan, const Derivation& derivation) {
  return HomeRun(plan, derivation).Run();
}

void CheckHomesByTiles(const Plan& plan, const Derivation& derivation, Findings& findings) {
  const bool any = std::any_of(plan.homes.begin(), plan.homes.end(),
                               [](const Home& home) { return home.by_tiles; });
  if (!any) return;
  const std::optional<BytesAtHome> bytes = FindHomeBytes(plan, derivation);
  if (!bytes)
    return findings.Note(ViolationKind::kMemory, "the tiles of tensors at home are too many");
  TiledHomeCheck check(plan, bytes->list, findings);
  for (const Home& home : plan.homes) {
    if (home.by_tiles) check.Check(home);
  }
}

}  // namespace tessera::plan::verify
