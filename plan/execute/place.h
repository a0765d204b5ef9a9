#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/problem/problem.h"

// Where the elements of one tensor, or of a part of it, lie.
namespace tessera::plan::execute {

// One axis of a tensor as it is stored. Index i in [held.begin, held.end) lies i - held.begin steps
// behind the base. Pads are adjacent to the held indices: index -p of the tensor lies p steps
// before the base, index extent + p one more than p steps behind the last one held.
struct AxisPlace {
  Range held;
  int64_t extent = 1;        // of the tensor
  int64_t address_step = 0;  // cells
  int64_t number_step = 1;   // elements, row-major in the tensor
  int64_t pad_low = 0;       // stored pads
  int64_t pad_high = 0;
  int64_t modulus =
      0;  // of the rows of a rolling buffer, else 0: the j-th row ever made lies j mod `modulus`
          // steps behind the base, low pads before the base, high ones behind all rows
  int64_t made_before = 0;  // of a rolling buffer: the number j of row held.begin
};

// How many steps behind the base an index lies.
int64_t PositionOf(const AxisPlace& axis, int64_t index);

enum class Where : uint8_t {
  kTileMemory,
  kHome,  // the tensor's own store in another memory; its address there is not looked at
  kNone,  // the plan has no buffer for it
};

struct Place {
  Where where = Where::kNone;
  int content = -1;
  std::string buffer;           // its id, for messages
  problem::AddressRange cells;  // of the buffer
  int64_t base = 0;             // cell of the first element held
  int64_t element_cells = 1;    // cells of one element, side by side
  std::vector<AxisPlace> axes;  // of the tensor
  bool bordered = false;  // pads stand around all of it, whatever part is written: a whole buffer
  std::string refusal;    // why it may not be touched so, in words; empty if it may
};

// Elements in equal steps: `count` of them, the first at cell `address` with row-major number
// `number`.
struct Run {
  int64_t address = 0;
  int64_t number = 0;
  int64_t count = 1;
  int64_t address_step = 0;
  int64_t number_step = 0;
  bool pad = false;  // stored padding: numbers mean nothing
};

// The elements in runs along the axis that serves best. Cost: linear in the runs.
std::vector<Run> RunsOf(const Place& place, const ElementSet& elements);

// A box that is written, and pads: those adjacent to it on each side where it ends with the place,
// even if it is empty there; those of a rolling buffer with the first row of all; of a bordered
// place, all in its rows and columns along the axes that have any.
ElementSet WithPads(const Place& place, const Box& box);

}  // namespace tessera::plan::execute
