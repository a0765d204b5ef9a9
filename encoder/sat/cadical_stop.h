#pragma once

#include <cadical.hpp>
#include <cstdint>

#include "tessera/base/stop.h"

// What every use of CaDiCaL shares; for sources that see its header.
namespace tessera::encoder::sat {

// The library's option ends there; seeds are taken modulo it.
inline constexpr uint64_t kCadicalSeedRange = 2'000'000'000;

// Lets a Stop end the library's work.
class StopWatcher : public CaDiCaL::Terminator {
 public:
  explicit StopWatcher(const base::Stop& stop) : stop_(stop) {}
  bool terminate() override { return stop_.Requested(); }

 private:
  const base::Stop& stop_;
};

}  // namespace tessera::encoder::sat
