#pragma once

#include <memory>
#include <string_view>

#include "tessera/encoder/sat/integer_encoding.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder {

struct IpasirOptions {
  IntegerEncoding encoding = IntegerEncoding::kByMagnitude;
};

// The engine "ipasir": the formulation of "cadical", decided by the IPASIR library that the build names
// (TESSERA_IPASIR). Supports what "cadical" does. Budget units as in IpasirSolver. As deterministic as the
// library, hence in no default lane.
class IpasirEngine : public problem::Engine {
 public:
  IpasirEngine() = default;
  explicit IpasirEngine(const IpasirOptions& options) : options_(options) {}

  std::string_view Name() const override { return "ipasir"; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

  // The library's own name and version.
  static std::string_view Signature();

 private:
  IpasirOptions options_;
};

}  // namespace tessera::encoder
