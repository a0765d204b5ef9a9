// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/partition/driver/subgraph_table.h"

namespace tessera::search::partition::driver {

// Bytes of the tile memory that are free throughout a subgraph, and after its prologue. A subgraph
// has room for more of its own slices in the bytes that are free throughout.
struct FreeBytes {
  problem::Bytes throughout = 0;
  problem::Bytes after_prologue = 0;
};

// Decides when the constants of each subgraph arrive. See prefetch_schedule.cc, and
// prefetch_moves.cc for Improve. Not thread-safe.
class PrefetchSchedule {
 public:
  // The table must outlive this object. `kept`: boundary tensors on chip.
  PrefetchSchedule(SubgraphTable& table, std::vector<int> kept)
      : context_(table.Context()), table_(table), kept_(std::move(kept)) {}

  struct Proposal {
    std::vector<plan::Subgraph> subgraphs;  // with metrics, except peaks
    plan::Metrics totals;                   // of them
    int without_room = 0;                   // of which no part arrives ahead, for lack of room
    // those whose constants some engine waits for, or lacked room at some time
    std::vector<size_t> late;
  };

  // The slices that arrive ahead: as many as find room, or no more than the subgraph would
  // otherwise wait for.
  enum class Slices : uint8_t { kAll, kNeeded };

  // Returns the subgraphs with constants that arrive ahead, unless that delays an earlier subgraph
  // by more than it gains. `free` is parallel to them.
  // With `improve`, constants are moved to other subgraphs afterwards, as long as that saves time.
  Proposal Propose(std::vector<plan::Subgraph> subgraphs, std::vector<FreeBytes> free,
                   Slices slices, bool improve = false);

  // Returns the bytes of the constants that a subgraph loads once.
  static problem::Bytes BytesOf(SubgraphTable::Entry& entry);

  // Sets those subgraphs of `with` back to what they are in `subgraphs` that take less time so
  // than with the constants as scheduled. Returns whether any changed.
  bool TakeBack(const std::vector<plan::Subgraph>& subgraphs,
                const std::vector<plan::Subgraph>& scheduled, std::vector<plan::Subgraph>& with);

  static void SetWeights(plan::Subgraph& subgraph, hw_profiles::WeightPolicy weights);

 private:
  using Entry = SubgraphTable::Entry;

  // A subgraph whose constants are to be scheduled. `prefetch` has one entry for each part; the
  // first `done` parts have a carrier.
  struct Queued {
    Entry* entry = nullptr;
    int64_t tiles = 1;
    std::vector<int> prefetch = {};
    problem::Bytes bytes = 0;        // that are in use from the first part on
    problem::Bytes slice_bytes = 0;  // that are in use from each part on
    int64_t slices = 0;              // of which the first are parts; later ones do not arrive ahead
    size_t done = 0;
    bool lacked_room = false;
    bool delays = false;  // its last carrier waits for it
  };

  // A subgraph that constants arrive in, and those that are assigned to it.
  struct Carrier {
    Entry* entry = nullptr;
    cost::PortTimes times;
    cost::Prefetches prefetches;
    const cost::Prefetches* before = nullptr;  // of the subgraph before
  };

  bool Overlaps(const plan::Subgraph& subgraph) const;
  size_t PartsOf(const Queued& user) const;
  size_t SlicesNeeded(Entry& entry, size_t most) const;
  Queued Enqueue(const plan::Subgraph& subgraph, FreeBytes own, Slices slices);
  static size_t PartsWithRoom(const Queued& next, std::span<const FreeBytes> from_carrier);
  static problem::Bytes BytesOfSlots(const Queued& next);
  void AddTo(cost::Prefetches& prefetches, const Queued& user, std::span<const int> prefetch,
             int ahead) const;
  cost::Prefetches With(const Carrier& carrier, const Queued& user, std::span<const int> prefetch,
                        int ahead) const;
  size_t Assign(const Carrier& carrier, Queued& next, int ahead, size_t most) const;
  void Fill(std::vector<plan::Subgraph>& subgraphs, Carrier& carrier, size_t number,
            std::span<Queued> queue, std::span<FreeBytes> free) const;
  bool PaysToWait(const Carrier& carrier, Queued& next) const;
  class Prices;

  cost::Prefetches PrefetchesAt(const std::vector<plan::Subgraph>& subgraphs,
                                std::span<const Queued> queue, size_t number) const;
  std::vector<cost::Prefetches> AllPrefetches(const std::vector<plan::Subgraph>& subgraphs,
                                              std::span<const Queued> queue) const;
  bool HasRoom(const std::vector<plan::Subgraph>& subgraphs, std::span<const FreeBytes> free,
               std::span<const int> list, size_t user, problem::Bytes bytes) const;
  void Improve(std::vector<plan::Subgraph>& subgraphs, std::span<const Queued> queue,
               std::span<FreeBytes> free) const;
  Proposal Price(std::vector<plan::Subgraph> subgraphs, std::span<const Queued> queue) const;

  const choices::SearchContext& context_;
  SubgraphTable& table_;
  const std::vector<int> kept_;
};

}  // namespace tessera::search::partition::driver
