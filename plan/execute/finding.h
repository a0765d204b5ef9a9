#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::plan::execute {

enum class FindingKind : uint8_t {
  kUnwritten,    // read before it was written
  kStale,        // a cell that still holds other coordinates of the tensor: another tile's, another
                 // slice's
  kOverwritten,  // a cell that holds something else by now
  kArriving,     // touched while a transfer may still be writing it
  kMoving,       // overwritten while a transfer may still be reading it
  kInPlace,      // a result in the place of operands that are still to be read
  kLost,         // a cell whose contents nobody keeps: its bank was off, or no buffer lived there
  kOutside,      // beyond the buffer, the memory, or where the memory may be used
  kForbidden,    // an access that the mode, the memory or a lifespan does not allow
  kIncomplete,   // a result that is not all there when it is wanted
  kControl,      // a step that cannot follow, or that has nothing to do what it says with
};

std::string_view NameOf(FindingKind kind);

// One thing that went wrong. `message` says all of it; the rest is for programs. -1 where an index
// means nothing.
struct Finding {
  FindingKind kind = FindingKind::kControl;
  int64_t step = -1;
  int64_t tile = -1;
  int op = -1;
  std::string content;               // "'x'", "the table of 'w'"
  std::vector<int64_t> coordinates;  // of the first element concerned
  int64_t address = -1;              // byte in the tile memory
  int64_t cells = 0;                 // how many cells it is about
  std::string message;
};

}  // namespace tessera::plan::execute
