// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/partition/choices/search_context.h"

namespace tessera::search::partition::driver {

// Bytes of the tile memory that are free throughout a subgraph, and from the end of its prologue.
struct FreeBytes {
  problem::Bytes throughout = 0;
  problem::Bytes after_prologue = 0;
};

// The load of each subgraph of a program, taken from `room` bytes.
std::vector<FreeBytes> FindFree(const encoder::program::Program& program, size_t subgraphs,
                                problem::Bytes room);

// Decides when the constants of a subgraph arrive, given when those of all others do. See
// prefetch_schedule.cc. Not thread-safe.
class PrefetchSchedule {
 public:
  // The context must outlive this object. `kept`: boundary tensors on chip.
  PrefetchSchedule(const choices::SearchContext& context, std::vector<int> kept);

  struct Proposal {
    std::vector<plan::Subgraph> subgraphs;  // with metrics, except peaks
    plan::Metrics totals;                   // of them
    int without_room = 0;                   // subgraphs of which no part is ahead, for want of room
  };

  // The subgraphs with constants that arrive ahead where that delays no earlier subgraph by more
  // than it gains. `free` is parallel to them.
  Proposal Propose(std::vector<plan::Subgraph> subgraphs, std::vector<FreeBytes> free);

  // Gives subgraphs back the slices that they have in `subgraphs` if these take less time than
  // their constants as scheduled. Returns whether any did.
  bool TakeBack(const std::vector<plan::Subgraph>& subgraphs,
                const std::vector<plan::Subgraph>& scheduled, std::vector<plan::Subgraph>& with);

  static void SetWeights(plan::Subgraph& subgraph, hw_profiles::WeightPolicy weights);

 private:
  struct Costing {
    encoder::program::Policy policy;
    graph::tiling::TiledSubgraph tiling;
    std::optional<cost::ClassCosts> costs;  // refer to the tiling
  };

  // A subgraph whose constants wait for their turn: with a place for each part, `done` of which
  // have a carrier.
  struct Queued {
    plan::Subgraph user;
    problem::Bytes bytes = 0;
    size_t done = 0;
    bool lacked_room = false;
  };

  const Costing& CostingOf(const plan::Subgraph& subgraph);
  plan::Metrics PriceOf(const plan::Subgraph& subgraph, const cost::Prefetches& prefetches,
                        cost::Detail detail);
  bool Overlaps(const plan::Subgraph& subgraph) const;
  size_t PartsOf(const plan::Subgraph& subgraph) const;
  problem::Bytes BytesOf(const plan::Subgraph& subgraph) const;
  size_t Carry(const std::vector<plan::Subgraph>& subgraphs, size_t carrier, plan::Subgraph& user,
               size_t number, size_t done);
  void Fill(std::vector<plan::Subgraph>& subgraphs, size_t carrier, std::span<Queued> queue,
            std::span<FreeBytes> free);
  bool PaysToWait(const std::vector<plan::Subgraph>& subgraphs, size_t carrier, Queued& next);

  const choices::SearchContext& context_;
  const std::vector<int> kept_;
  // by first and last operator, weights and K extent
  std::map<std::tuple<int, int, hw_profiles::WeightPolicy, int64_t>, std::unique_ptr<Costing>>
      costings_;
};

}  // namespace tessera::search::partition::driver
