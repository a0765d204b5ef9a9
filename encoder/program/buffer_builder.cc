// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/buffer_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/layout.h"

namespace tessera::encoder::program {

using problem::Access;
using problem::Lifespan;

void BufferBuilder::Live(problem::Step lower, problem::Step upper) {
  if (lower < upper) buffer.lifespans.push_back({lower, upper});
}

void BufferBuilder::Touch(problem::Step step, std::string_view engine, problem::AccessKind kind) {
  buffer.accesses.push_back({step, std::string(engine), kind});
}

void BufferBuilder::Finish() {
  std::vector<Lifespan>& lives = buffer.lifespans;
  problem::SortByBegin(lives);
  std::vector<Lifespan> merged;
  for (const Lifespan& life : lives) {
    if (!merged.empty() && life.lower <= merged.back().upper) {
      merged.back().upper = std::max(merged.back().upper, life.upper);
    } else {
      merged.push_back(life);
    }
  }
  lives = std::move(merged);

  std::vector<Access>& accesses = buffer.accesses;
  std::sort(accesses.begin(), accesses.end(), [](const Access& a, const Access& b) {
    return std::tie(a.step, a.kind, a.engine) < std::tie(b.step, b.kind, b.engine);
  });
  accesses.erase(std::unique(accesses.begin(), accesses.end()), accesses.end());
}

namespace {

using problem::AccessKind;
using problem::Step;

std::optional<Step> Find(const std::map<int, Step>& steps, int k) {
  const auto found = steps.find(k);
  return found == steps.end() ? std::nullopt : std::optional(found->second);
}

// The step of the pass at which kept rows return to the tile.
std::optional<Step> RestoreOf(const TensorUse& use, const Pass& pass) {
  return use.cached ? Find(pass.restores, use.First()) : std::nullopt;
}

void MoveAt(Timeline& timeline, BufferBuilder& draft, const TensorUse& use, Step step,
            AccessKind kind) {
  draft.Touch(step, use.link->name, kind);
  timeline.steps[static_cast<size_t>(step - timeline.begin)].transfers.push_back(use.tensor);
}

}  // namespace

BufferBuilder& SubgraphDrafts::Open(BufferKind kind, std::string id) {
  BufferBuilder& draft = list.emplace_back();
  draft.meaning.kind = kind;
  draft.meaning.subgraph = subgraph;
  draft.buffer.id = std::move(id);
  draft.buffer.span = profile.memories[static_cast<size_t>(profile.tile_memory)].span;
  return draft;
}

BufferBuilder& SubgraphDrafts::OpenFor(const TensorUse& use, BufferKind kind,
                                       std::string_view suffix, int phase) {
  BufferBuilder& draft =
      Open(kind, fmt::format("s{}/{}{}", subgraph, TensorAt(use.tensor).id, suffix));
  SetTensor(draft, use);
  draft.meaning.phase = phase;
  return draft;
}

void SubgraphDrafts::SetTensor(BufferBuilder& draft, const TensorUse& use) const {
  draft.meaning.tensor = use.tensor;
  draft.buffer.name = TensorAt(use.tensor).id;
  draft.buffer.role = base::NameOf(use.role);
  const int64_t alignment = hw_profiles::LayoutOf(profile, use.role).alignment_bytes;
  draft.buffer.alignment =
      use.link == nullptr ? alignment : std::lcm(alignment, use.link->alignment_bytes);
}

void SubgraphDrafts::TouchByEngines(BufferBuilder& draft, const TensorUse& use,
                                    const Pass& pass) const {
  if (const auto restore = RestoreOf(use, pass))
    draft.Touch(*restore, EngineOf(use.First()), AccessKind::kWrite);
  if (const auto save = SaveOf(use, pass))
    draft.Touch(*save, EngineOf(use.Last()), AccessKind::kRead);
  for (const int k : use.makers) TouchBy(draft, k, pass, AccessKind::kWrite);
  for (const int k : use.readers) TouchBy(draft, k, pass, AccessKind::kRead);
}

void SubgraphDrafts::TouchBy(BufferBuilder& draft, int k, const Pass& pass, AccessKind kind) const {
  const Lifespan steps = ComputeSteps(uses, pass, k);
  for (Step step = steps.lower; step < steps.upper; ++step) draft.Touch(step, EngineOf(k), kind);
}

void SubgraphDrafts::Move(BufferBuilder& draft, const TensorUse& use, Step step,
                          AccessKind kind) const {
  MoveAt(timeline, draft, use, step, kind);
}

void SubgraphDrafts::MoveAlive(BufferBuilder& draft, const TensorUse& use, Step lower, Step upper,
                               AccessKind kind) const {
  draft.Live(lower, upper);
  std::vector<problem::Access>& accesses = draft.buffer.accesses;
  const size_t all = accesses.size() + static_cast<size_t>(upper - lower);
  if (all > accesses.capacity()) accesses.reserve(std::max(all, 2 * accesses.capacity()));
  for (Step step = lower; step < upper; ++step) Move(draft, use, step, kind);
}

void SubgraphDrafts::ArriveAhead(BufferBuilder& draft, const TensorUse& use, Timeline& carrier,
                                 Step lower, Step upper) const {
  draft.Live(lower, upper);
  for (Step step = lower; step < upper; ++step)
    MoveAt(carrier, draft, use, step, AccessKind::kWrite);
}

Lifespan ComputeSteps(const SubgraphUses& uses, const Pass& pass, int k) {
  if (uses.IsLate(k)) return {pass.begin, pass.end};
  const Step step = pass.compute[static_cast<size_t>(k)];
  return {step, step + 1};
}

std::optional<Step> SaveOf(const TensorUse& use, const Pass& pass) {
  return use.cached ? Find(pass.saves, use.Last()) : std::nullopt;
}

Step FirstStep(const TensorUse& use, const Pass& pass) {
  return RestoreOf(use, pass).value_or(pass.first[static_cast<size_t>(use.makers.front())]);
}

Step LastUse(const TensorUse& use, const Pass& pass) {
  if (const auto save = SaveOf(use, pass)) return *save;
  return pass
      .compute[static_cast<size_t>(use.readers.empty() ? use.makers.back() : use.readers.back())];
}

// The lives and accesses of each buffer of a subgraph: one function for each row of the tables in
// docs/program.md. Tiles, kept rows and constants are in subgraph_buffers.cc. Cost: linear in
// buffers times steps.

namespace {

using problem::AccessKind;
using problem::Step;

// Buffers that operator k reads and writes only while it works on a tile.
void AddWorkspace(SubgraphDrafts& drafts, int k, BufferKind kind, std::string_view word) {
  const graph::Operator& op = drafts.OperatorAt(k);
  for (size_t phase = 0; phase < drafts.timeline.Phases(); ++phase) {
    BufferBuilder& draft =
        drafts.Open(kind, fmt::format("s{}/{}/{}@{}", drafts.subgraph, op.id, word, phase));
    draft.meaning.op = drafts.uses.interval.first + k;
    draft.meaning.phase = static_cast<int>(phase);
    draft.buffer.name = op.id;
    draft.buffer.role = "scratch";
    draft.buffer.alignment =
        hw_profiles::LayoutOf(drafts.profile, base::TensorRole::kFeature).alignment_bytes;
    const bool is_late = drafts.uses.IsLate(k);
    for (size_t q = is_late ? 1 - phase : phase; q < drafts.timeline.passes.size(); q += 2) {
      const Pass& pass = drafts.timeline.passes[q];
      draft.Live(is_late ? pass.begin : pass.first[static_cast<size_t>(k)],
                 ComputeSteps(drafts.uses, pass, k).upper);
      drafts.TouchBy(draft, k, pass, AccessKind::kRead);
      drafts.TouchBy(draft, k, pass, AccessKind::kWrite);
    }
  }
}

std::vector<BufferBuilder> Finish(SubgraphDrafts drafts) {
  for (BufferBuilder& draft : drafts.list) draft.Finish();
  return std::move(drafts.list);
}

}  // namespace

std::vector<BufferBuilder> DraftBuffers(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        std::span<Timeline> earlier) {
  SubgraphDrafts drafts(graph, profile, uses, subgraph, timeline, earlier);
  DraftResidents(drafts);
  DraftTiles(drafts);
  for (int k = 0; k < uses.Operators(); ++k) DraftSlices(drafts, k);
  for (int k = 0; k < uses.Operators(); ++k) {
    if (!uses.on_host && HasScratch(profile, drafts.OperatorAt(k)))
      AddWorkspace(drafts, k, BufferKind::kScratch, "scratch");
  }
  if (uses.split_k) AddWorkspace(drafts, /*k=*/0, BufferKind::kAccumulator, "accumulator");
  return Finish(std::move(drafts));
}

std::vector<BufferBuilder> DraftScratch(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        int k) {
  SubgraphDrafts drafts(graph, profile, uses, subgraph, timeline, /*of_earlier=*/{});
  AddWorkspace(drafts, k, BufferKind::kScratch, "scratch");
  return Finish(std::move(drafts));
}

}  // namespace tessera::encoder::program
