#pragma once

#include <functional>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// A byte of a tensor where it lies whole.
struct WholeByte {
  int memory = 0;
  int64_t address = 0;
  execute::Tag tag = execute::kNothing;
};

// The bytes of tensors where they lie whole, in their home or in a whole buffer, straight from docs/program.md, "Inside a buffer" and
// "Homes", without the strides of any lowering. What it refers to outlives it.
class WholeTensors {
 public:
  WholeTensors(const Plan& plan, const execute::Contents& contents, const execute::Places& places)
      : plan_(plan), contents_(contents), places_(places) {}

  using Visit = std::function<void(const WholeByte&)>;

  // Every byte of the elements, and of a constant's table; of pads too where asked for.
  void ForEachByte(int tensor, bool pads, const Visit& visit) const;

 private:
  void WalkHome(const Home& home, int64_t address, int tensor, const Visit& visit) const;
  void WalkBuffer(const execute::Place& place, bool pads, const Visit& visit) const;
  void PutElement(int memory, int64_t address, int content, int64_t number, const Visit& visit) const;

  const Plan& plan_;
  const execute::Contents& contents_;
  const execute::Places& places_;
};

}  // namespace tessera::plan::lowering
