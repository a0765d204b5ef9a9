// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tessera/encoder/formulation/formulation.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder::formulation {

// The Session of every engine that decides a formulation with a backend. The first Solve opens the
// backend, and the session keeps it: later calls add the sizes of new candidates and assume them. A
// capacity beyond all earlier ones opens a new backend, because the domains of addresses end at the
// greatest capacity requested so far.
class EncodedSession : public problem::Session {
 public:
  EncodedSession(std::string engine, const problem::Problem& problem, const problem::Ladder* ladder,
                 BackendFactory open_backend, Constraints constraints = {},
                 const Refinements& refinements = Refinements::None());

  problem::Result Solve(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) override;

  // Lowers the cost from one answer to the next until no cheaper answer exists.
  problem::Result Minimise(size_t candidate, problem::Bytes capacity, const base::Budget& budget,
                           const base::Stop& stop) override;
  // The size of the formula by topic: "1234 variables, 5678 clauses (offsets 12 and 30, liveness 40
  // and 90)".
  std::string Describe() const override;

  // Clauses written since the backend was opened, by topic; all zero before.
  TopicCounts Counts() const;

 private:
  // State with the lifetime of one backend.
  struct Encoding {
    FormulationInput question;
    std::unique_ptr<Backend> backend;
    Formulation formulation;
    Encoding(FormulationInput asked, BackendFactory& open_backend, const Constraints& constraints,
             const base::Stop& stop);
  };

  // `most` is the upper bound of the costs, if there is one.
  problem::Result Decide(const problem::Problem& sized, size_t candidate, problem::Bytes capacity,
                         std::optional<int64_t> most, const base::Budget& budget,
                         const base::Stop& stop);
  void Improve(problem::Result& best, size_t candidate, problem::Bytes capacity, int64_t conflicts,
               const base::Stop& stop);
  problem::Problem SizedFor(size_t candidate) const;
  void Check(const problem::Problem& sized, problem::Bytes capacity, problem::Result& result) const;
  void OpenFor(problem::Bytes capacity, const base::Stop& stop);
  void LeaveAtEnd(const base::Stop& stop);

  std::string engine_;
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
  BackendFactory open_backend_;
  Constraints constraints_;
  Refinements refinements_;
  std::optional<AddressConstraints> address_constraints_;
  std::unique_ptr<Encoding> encoding_;
};

}  // namespace tessera::encoder::formulation
