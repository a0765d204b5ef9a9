#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/plan/trace.h"

namespace tessera::plan {

// What happens while a program runs: at each moment one of its steps is executed, and buffers are touched. A buffer holds
// values, told apart by number; each stays from the first moment that touches it to the last.
class MomentLog {
 public:
  // The moment that begins executes this step.
  void RunStep(problem::Step step) { moments_.push_back(step); }

  // The latest moment. RunStep has been called.
  size_t Now() const { return moments_.size() - 1; }

  void Touch(const BufferUse& use, int64_t value, const std::string& engine, problem::AccessKind kind);

  // The value is needed at that moment although nobody touches it.
  void Hold(const BufferUse& use, int64_t value, size_t moment);

  // Every buffer's stays and accesses on the program's `steps` steps. Cost: moments that values stay.
  std::map<BufferUse, Sighting, UseOrder> Fold(size_t steps) const;

 private:
  struct Stay {
    size_t first = 0;
    size_t last = 0;
  };
  struct Record {
    std::set<std::tuple<problem::Step, std::string, problem::AccessKind>> accesses;
    std::map<int64_t, Stay> stays;  // by value
  };
  std::vector<problem::Lifespan> LifespansOf(const Record& record, size_t steps) const;

  std::vector<problem::Step> moments_;
  std::map<BufferUse, Record, UseOrder> records_;
};

}  // namespace tessera::plan
