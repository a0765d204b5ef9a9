#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/place.h"
#include "tessera/plan/execute/tile_boxes.h"
#include "tessera/plan/plan.h"

// Where the plan puts things: from buffers and offsets to places of elements (docs/program.md, "Inside a buffer").
namespace tessera::plan::execute {

// What somebody wants to do at a place, and when: at steps [first, last].
struct Intent {
  enum class By : uint8_t { kEngine, kLink };
  By by = By::kEngine;
  problem::AccessKind kind = problem::AccessKind::kRead;
  int64_t first = 0;
  int64_t last = 0;
};

// A part of a streamed constant: channels [begin, end) of those along `axis`.
struct Slice {
  size_t axis = 0;
  Range channels;
  int64_t granule = 1;  // channels in a slice that is no last one
};

class Places {
 public:
  Places(const Plan& plan, const Contents& contents, const std::vector<Users>& users);

  // Tile buffers from here on are those of this subgraph, shaped for `largest` extents.
  void EnterSubgraph(int subgraph, std::map<int, std::vector<int64_t>> largest);

  // The index of the buffer that holds this, or -1.
  int BufferOf(const BufferUse& use) const;
  bool IsHeldInTiles(int tensor) const;  // in this subgraph, for any parity
  bool IsResident(int constant) const { return BufferOf(Resident(constant)) >= 0; }
  bool IsStreamed(int op, int constant) const;
  bool IsWhole(int tensor) const { return BufferOf(Whole(tensor)) >= 0; }

  // A tensor that is no constant, as one tile of a parity sees it: its tile buffer, the whole buffer, or its home.
  Place OfTile(int tensor, int parity, const Box& held, const Intent& intent) const;

  // All of a tensor where it lies whole: in its whole buffer, or at home.
  Place OfWhole(int tensor, const Intent& intent) const;
  Place AtHome(int content, const Intent& intent) const;

  // A constant, or the table beside it, in its resident buffer, in a slot, or where it lies whole.
  Place OfResident(int constant, const Intent& intent, bool table) const;
  Place OfSlice(int op, int constant, int parity, int slot, const Slice& slice, const Intent& intent,
                bool table) const;
  Place OfConstantWhole(int constant, const Intent& intent, bool table) const;

  std::optional<Place> OfScratch(int op, int parity, const Intent& intent) const;

  bool HasTable(int constant) const { return contents_.ShapeOf(contents_.TablesOf(constant)).front() > 0; }
  base::TensorRole RoleOf(int tensor) const;  // in this subgraph

 private:
  using Key = std::tuple<BufferKind, int, int, int, int, int>;

  static Key KeyOf(const BufferUse& use) {
    return {use.kind, use.subgraph, use.tensor, use.op, use.parity, use.slot};
  }
  static BufferUse Whole(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }
  BufferUse Resident(int constant) const { return {BufferKind::kResident, subgraph_, constant, -1, 0, 0}; }

  Place InBuffer(int buffer, int content, const Intent& intent) const;
  void LayOut(Place& place, base::TensorRole role, const std::vector<int64_t>& extents, const Box& held,
              graph::Interval readers) const;
  void LayOutInOrder(Place& place, const Box& held) const;
  void AddPads(Place& place, graph::Interval readers) const;
  std::string RefusalAtHome(int tensor, const Intent& intent) const;

  const Plan& plan_;
  const Contents& contents_;
  const std::vector<Users>& users_;
  std::map<Key, int> buffers_;
  int subgraph_ = -1;
  std::map<int, std::vector<int64_t>> largest_;
};

}  // namespace tessera::plan::execute
