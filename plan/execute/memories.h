#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/plan/execute/access_rules.h"
#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/ledger.h"
#include "tessera/plan/execute/place.h"
#include "tessera/plan/execute/tile_memory.h"

// The tile memory, and every tensor of the other memories in a store of its own. Whatever is read
// is held against what should be there; whatever is written, against who may still want the cells.
// What is wrong goes to the ledger, once for each access.
namespace tessera::plan::execute {

class Memories {
 public:
  Memories(const Contents& contents, const problem::Memory& tile_memory, Ledger& ledger);

  // All of it is there from the beginning on.
  void Provide(const Place& place);

  // Whether the place can be touched at all; notes why not.
  bool MayTouch(const Place& place, const std::vector<Run>& runs, problem::AccessKind kind);

  // All elements of the runs must be there. Cells that lack them are of the kind that they suggest,
  // or of `kind` where given.
  void CheckRead(const Place& place, const std::vector<Run>& runs,
                 std::optional<FindingKind> kind = std::nullopt);

  void Write(const Place& place, const std::vector<Run>& runs, uint32_t actor);

  // Fills cells of the tile memory with one tag.
  void Fill(const problem::AddressRange& cells, Tag tag, uint32_t actor);

  // From here on a transfer may write the runs' cells, all cells of the buffer if it fills it; and
  // it has.
  void BeginArrival(const Place& place, const std::vector<Run>& runs, bool fills, uint32_t actor);
  void Arrive(const Place& place, const std::vector<Run>& runs, bool fills, uint32_t actor);

  // From here on a transfer may read the runs' cells; and it has.
  void Hold(const Place& place, const std::vector<Run>& runs);
  void Release(const Place& place, const std::vector<Run>& runs);

  AccessRules::Banks BanksOf(const Place& place, const std::vector<Run>& runs) const;
  const AccessRules& Rules() const { return rules_; }
  Tag TagAt(int64_t cell) const { return memory_.TagAt(cell); }
  problem::AddressRange WithinMemory(const problem::AddressRange& cells) const;

  // What the cell of the run's element i, part p, should hold.
  Tag Expected(const Place& place, const Run& run, int64_t i, int64_t part) const;

 private:
  struct Store {
    bool provided = false;
    std::vector<bool> written;  // by row-major number; empty while nothing was
  };

  // The first of the cells that are not as they should be, and how many there are.
  struct Trouble {
    FindingKind kind = FindingKind::kUnwritten;
    Tag expected = kNothing;
    int64_t cell = -1;
    int64_t cells = 0;

    void Add(FindingKind found, Tag wanted, int64_t at) {
      if (cells++ == 0) *this = {found, wanted, at, 1};
    }
  };

  void CheckStore(const Place& place, const std::vector<Run>& runs,
                  std::optional<FindingKind> kind);
  void Put(int64_t cell, Tag tag, uint32_t actor, Trouble& trouble);
  FindingKind Diagnose(Tag expected, Tag found) const;
  void NoteRead(const Trouble& trouble, const Place& place, std::optional<FindingKind> kind);
  void NoteWrite(const Trouble& trouble);

  const Contents& contents_;
  AccessRules rules_;
  TileMemory memory_;
  std::vector<Store> stores_;  // by content
  Ledger& ledger_;
};

}  // namespace tessera::plan::execute
