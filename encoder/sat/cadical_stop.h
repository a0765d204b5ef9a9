#pragma once

#include <cadical.hpp>
#include <cstdint>

#include "tessera/base/stop.h"

// Shared by all uses of CaDiCaL. Include it only where the header of the library is available.
namespace tessera::encoder::sat {

// The upper end of the library's seed option; seeds are taken modulo it.
inline constexpr uint64_t kCadicalSeedRange = 2'000'000'000;

// Lets a Stop end the work of the library.
class StopWatcher : public CaDiCaL::Terminator {
 public:
  explicit StopWatcher(const base::Stop& stop) : stop_(stop) {}
  bool terminate() override { return stop_.Requested(); }

 private:
  const base::Stop& stop_;
};

}  // namespace tessera::encoder::sat
