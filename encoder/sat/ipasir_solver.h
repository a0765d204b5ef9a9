#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "tessera/base/stop.h"
#include "tessera/encoder/backend.h"
#include "tessera/encoder/clause_sink.h"

namespace tessera::encoder {

// The SAT solver of whatever IPASIR library the program is linked with. Preferences cannot be told.
class IpasirSolver : public ClauseSink, public Model {
 public:
  // `limit` as in ClauseSink.
  explicit IpasirSolver(int64_t limit);

  Literal NewVariable() override { return Literal(++variables_); }

  // Budget units are clauses that the library reports as learned, and it is asked to stop through its
  // terminate callback: it may overrun by what it learns between two calls of that, and one that reports
  // nothing knows no budget but 0.
  Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget, const base::Stop& stop);

  // False for what the library leaves open, and unless the last Decide was satisfiable and nothing was added
  // since.
  bool IsTrue(Literal literal) const override;

 protected:
  void Store(std::span<const Literal> clause) override;

 private:
  struct Release {
    void operator()(void* solver) const;
  };

  std::unique_ptr<void, Release> solver_;
  bool satisfied_ = false;
  int32_t variables_ = 0;
  int32_t greatest_told_ = 0;  // of the variables that the library has seen
};

}  // namespace tessera::encoder
