#include "tessera/encoder/adapt/subgraph_drafts.h"

#include <fmt/format.h>

#include <map>
#include <numeric>
#include <utility>

namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Step;

std::optional<Step> Find(const std::map<int, Step>& steps, int k) {
  const auto found = steps.find(k);
  return found == steps.end() ? std::nullopt : std::optional(found->second);
}

// The step of the pass at which kept rows come back into the tile.
std::optional<Step> RestoreOf(const TensorUse& use, const Pass& pass) {
  return use.cached ? Find(pass.restores, use.First()) : std::nullopt;
}

void MoveAt(Timeline& timeline, BufferDraft& draft, const TensorUse& use, Step step, AccessKind kind) {
  draft.Touch(step, use.link->name, kind);
  timeline.steps[static_cast<size_t>(step - timeline.begin)].transfers.push_back(use.tensor);
}

}  // namespace

BufferDraft& SubgraphDrafts::Open(BufferKind kind, std::string id) {
  BufferDraft& draft = list.emplace_back();
  draft.meaning.kind = kind;
  draft.meaning.subgraph = subgraph;
  draft.buffer.id = std::move(id);
  draft.buffer.span = profile.memories[static_cast<size_t>(profile.tile_memory)].span;
  return draft;
}

BufferDraft& SubgraphDrafts::OpenFor(const TensorUse& use, BufferKind kind, std::string_view suffix,
                                     int parity) {
  BufferDraft& draft = Open(kind, fmt::format("s{}/{}{}", subgraph, TensorAt(use.tensor).id, suffix));
  SetTensor(draft, use);
  draft.meaning.parity = parity;
  return draft;
}

void SubgraphDrafts::SetTensor(BufferDraft& draft, const TensorUse& use) const {
  draft.meaning.tensor = use.tensor;
  draft.buffer.name = TensorAt(use.tensor).id;
  draft.buffer.role = base::NameOf(use.role);
  const int64_t alignment = hw_profiles::LayoutOf(profile, use.role).alignment_bytes;
  draft.buffer.alignment = use.link == nullptr ? alignment : std::lcm(alignment, use.link->alignment_bytes);
}

void SubgraphDrafts::TouchByEngines(BufferDraft& draft, const TensorUse& use, const Pass& pass) const {
  if (const auto restore = RestoreOf(use, pass))
    draft.Touch(*restore, EngineOf(use.First()), AccessKind::kWrite);
  if (const auto save = SaveOf(use, pass)) draft.Touch(*save, EngineOf(use.Last()), AccessKind::kRead);
  for (const int k : use.makers)
    draft.Touch(pass.compute[static_cast<size_t>(k)], EngineOf(k), AccessKind::kWrite);
  for (const int k : use.readers)
    draft.Touch(pass.compute[static_cast<size_t>(k)], EngineOf(k), AccessKind::kRead);
}

void SubgraphDrafts::Move(BufferDraft& draft, const TensorUse& use, Step step, AccessKind kind) const {
  MoveAt(timeline, draft, use, step, kind);
}

void SubgraphDrafts::MoveAlive(BufferDraft& draft, const TensorUse& use, Step lower, Step upper,
                               AccessKind kind) const {
  draft.Live(lower, upper);
  for (Step step = lower; step < upper; ++step) Move(draft, use, step, kind);
}

void SubgraphDrafts::ArriveBefore(BufferDraft& draft, const TensorUse& use, Step lower, Step upper) const {
  draft.Live(lower, upper);
  for (Step step = lower; step < upper; ++step) MoveAt(*before, draft, use, step, AccessKind::kWrite);
}

std::optional<Step> SaveOf(const TensorUse& use, const Pass& pass) {
  return use.cached ? Find(pass.saves, use.Last()) : std::nullopt;
}

Step FirstStep(const TensorUse& use, const Pass& pass) {
  return RestoreOf(use, pass).value_or(pass.first[static_cast<size_t>(use.makers.front())]);
}

Step LastUse(const TensorUse& use, const Pass& pass) {
  if (const auto save = SaveOf(use, pass)) return *save;
  return pass.compute[static_cast<size_t>(use.readers.empty() ? use.makers.back() : use.readers.back())];
}

}  // namespace tessera::encoder
