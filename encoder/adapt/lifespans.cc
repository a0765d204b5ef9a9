#include "tessera/encoder/adapt/lifespans.h"

#include <fmt/format.h>

#include <utility>

#include "tessera/encoder/adapt/constant_lifespans.h"
#include "tessera/encoder/adapt/layout.h"
#include "tessera/encoder/adapt/subgraph_drafts.h"
#include "tessera/encoder/adapt/tile_lifespans.h"

// When each buffer of a subgraph lives and who touches it: one function for each row of the tables in docs/program.md, in a file for each
// of tiles, kept rows and constants. Cost: linear in buffers times steps.
namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Step;

// What operator k reads and writes for itself as long as it works on a tile.
void AddWorkspace(SubgraphDrafts& drafts, int k, BufferKind kind, std::string_view word) {
  const graph::Operator& op = drafts.OperatorAt(k);
  for (size_t parity = 0; parity < drafts.timeline.Parities(); ++parity) {
    BufferDraft& draft = drafts.Open(kind, fmt::format("s{}/{}/{}@{}", drafts.subgraph, op.id, word, parity));
    draft.meaning.op = drafts.uses.interval.first + k;
    draft.meaning.parity = static_cast<int>(parity);
    draft.buffer.name = op.id;
    draft.buffer.role = "scratch";
    draft.buffer.alignment =
        hw_profiles::LayoutOf(drafts.profile, base::TensorRole::kFeature).alignment_bytes;
    for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
      const Pass& pass = drafts.timeline.passes[q];
      const Step compute = pass.compute[static_cast<size_t>(k)];
      draft.Live(pass.first[static_cast<size_t>(k)], compute + 1);
      draft.Touch(compute, drafts.EngineOf(k), AccessKind::kRead);
      draft.Touch(compute, drafts.EngineOf(k), AccessKind::kWrite);
    }
  }
}

std::vector<BufferDraft> Finish(SubgraphDrafts drafts) {
  for (BufferDraft& draft : drafts.list) draft.Finish();
  return std::move(drafts.list);
}

}  // namespace

std::vector<BufferDraft> DraftBuffers(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                      Timeline* before) {
  SubgraphDrafts drafts(graph, profile, uses, subgraph, timeline, before);
  DraftResidents(drafts);
  DraftTiles(drafts);
  for (int k = 0; k < uses.Operators(); ++k) DraftSlices(drafts, k);
  for (int k = 0; k < uses.Operators(); ++k) {
    if (HasScratch(profile, drafts.OperatorAt(k))) AddWorkspace(drafts, k, BufferKind::kScratch, "scratch");
  }
  if (uses.by_depth) AddWorkspace(drafts, /*k=*/0, BufferKind::kAccumulator, "accumulator");
  return Finish(std::move(drafts));
}

std::vector<BufferDraft> DraftScratch(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline, int k) {
  SubgraphDrafts drafts(graph, profile, uses, subgraph, timeline, /*of_the_one_before=*/nullptr);
  AddWorkspace(drafts, k, BufferKind::kScratch, "scratch");
  return Finish(std::move(drafts));
}

}  // namespace tessera::encoder
