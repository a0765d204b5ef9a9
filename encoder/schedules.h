#pragma once

#include <map>
#include <span>
#include <vector>

#include "tessera/encoder/addresses.h"

namespace tessera::encoder {

// The half of a formulation that is about time: the mode of each memory at each step, which accesses it
// permits in the banks that a buffer touches, and how many buffers a bank serves at once. Sizes do not occur
// in it. Cost: modes squared for each step and succession; modes * banks for each buffer and step with
// something to forbid.
class Schedules {
 public:
  Schedules(const Question& question, Addresses& addresses, ClauseSink& clauses);

  // Says everything. Ends early when the sink is full.
  void Write();

  // The literal "this memory is in this mode at this step of the horizon", counted from its start.
  Literal ModeAt(size_t memory, size_t step, size_t mode) const { return modes_[memory][step][mode]; }

  // One per memory: the modes of a memory without modes are an empty list.
  const std::vector<std::vector<std::vector<Literal>>>& Modes() const { return modes_; }

 private:
  // Accesses of one buffer at one step.
  using AccessesAt = std::map<problem::Step, std::vector<problem::Access>>;

  void WriteModes(size_t memory);
  void WriteTransitions(size_t memory);
  void WriteAccesses(size_t buffer);
  void WriteAccessesAt(size_t buffer, problem::Step step, std::span<const problem::Access> accesses);
  void WritePorts(size_t memory);
  void WritePortsOf(size_t memory, size_t bank);

  const Question& question_;
  Addresses& addresses_;
  ClauseSink& clauses_;
  problem::Lifespan horizon_;
  std::vector<AccessesAt> accesses_;                      // by buffer
  std::vector<std::vector<std::vector<Literal>>> modes_;  // by memory, step, mode
};

}  // namespace tessera::encoder
