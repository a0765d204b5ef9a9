// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tessera/search/engines/order_search/ejection_search.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/placed_buffers.h"
#include "tessera/search/engines/order_search/squeaky_wheel.h"

namespace tessera::search::engines::order_search {

// An anytime search for a placement with a low top.
//
// Where the load is low, any order works. So an episode of the search considers the *core*: the
// buffers whose contention is at least a given share of the greatest load.
//
//     load ^        core               1. The core alone is placed, by the squeaky wheel or by
//          |-------.-.------------        ejection; this is fast, because the core is small.
//          |   ,~~'   '~.   ,~.        2. Whenever that beats the best top, buffers that live
//          |~~'          '~'   '~         together with the core, the *fill*, are placed around it
//          '---|-------|----------        by first fit in several orders. All others stay.
//               window          time   3. A buffer of the fill that fits nowhere joins the core
//                                         for the rest of the search.
//
// So the work of an episode depends on the windows around the peaks of the load, not on the whole
// instance. Episodes with different shares take turns; with the share 0 the core is the whole
// instance. A rotation of episodes by the wheel is followed by a rotation by ejection, which starts
// from the best placement. Before all episodes, placements of all buffers in a few fixed orders
// provide the first answer.
class CoreSearch {
 public:
  // Searches that run concurrently have different `strand` numbers below kStrands. They draw
  // different random numbers and share out the openings. `known` is a placement, or empty.
  static constexpr size_t kStrands = 2;
  CoreSearch(Instance instance, Offsets known, uint64_t seed, size_t strand);

  // Finds a first placement as fast as possible. Must not be called if there is a placement.
  // Returns false after a stop.
  bool Start(Effort& effort);

  // Searches until the best top is at most `target` or the effort is over. There must be a
  // placement. A later call continues the search.
  void Lower(Bytes target, Effort& effort);

  // Uses a placement of another search if it is better.
  void Adopt(Offsets offsets);

  bool HasPlacement() const { return best_.size() == instance_.size.size(); }

  int Count() const { return instance_.Count(); }
  const Instance& Whole() const { return instance_; }
  const Offsets& Best() const { return best_; }
  Bytes Top() const { return top_; }

 private:
  // The core of an episode, and the buffers that live with it.
  struct Episode {
    Instance core;                        // taken from the whole
    std::unique_ptr<SqueakyWheel> wheel;  // or
    std::unique_ptr<EjectionSearch> ejection;
    double fraction = 0.5;  // of the gap above the target: the next limit of ejection
    int64_t steps = 0;      // of ejection, for one limit
    int64_t work_left = 0;
    int failures = 0;                // of fills
    std::optional<Instance> region;  // core, fill and obstacles; made for the first fill
    std::unique_ptr<PlacedBuffers> placed;
    std::vector<int> core_in_region;  // by number in the core
    std::vector<int> obstacles;       // in the region
    std::vector<Order> fills;         // orders of the fill in the region
  };

  bool Open(Effort& effort);
  void Begin();
  bool Step(Bytes target, Effort& effort);
  bool Turn(Bytes target, Effort& effort);
  bool Eject(Bytes target, Effort& effort);
  std::vector<int> ChooseCore(double share) const;
  void Complete(const Offsets& core, Bytes target, Effort& effort);
  void MakeRegion(Bytes target);
  void Fill(const Offsets& core, Effort& effort);
  int FillInOrder(const Offsets& core, const Order& order, Bytes limit, Effort& effort);
  void Keep(Offsets offsets, Bytes top);

  Instance instance_;
  std::vector<Bytes> contention_;
  Offsets best_;
  Bytes top_;
  base::Random random_;
  size_t opened_;  // the next opening
  size_t turn_;    // in the rotation of shares
  double patience_ = 1;
  std::vector<bool> joined_;          // buffers that belong to every core
  std::unique_ptr<Episode> episode_;  // the parts of an episode refer to each other
  size_t preferred_fill_ = 0;         // the order that succeeded last
  Offsets trial_;
};

}  // namespace tessera::search::engines::order_search
