#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tessera/encoder/formulation.h"
#include "tessera/problem/engine.h"

namespace tessera::encoder {

// The Session of every engine that decides a formulation with a backend. The backend is opened at the first
// Solve and kept: later calls add the sizes of rungs not yet seen and assume them. A capacity beyond all
// earlier ones opens a new backend, because the domains of addresses end at the greatest capacity asked
// about.
class EncodedSession : public problem::Session {
 public:
  EncodedSession(std::string engine, const problem::Problem& problem, const problem::Ladder* ladder,
                 BackendFactory open_backend);

  problem::Result Solve(size_t rung, problem::Bytes capacity, const base::Budget& budget,
                        const base::Stop& stop) override;

  // Clauses written since the backend was opened, by topic; all zero before.
  TopicCounts Counts() const;

 private:
  // What lives as long as one backend.
  struct Opened {
    Question question;
    std::unique_ptr<Backend> backend;
    Formulation formulation;
    Opened(const Question& asked, BackendFactory& open_backend);
  };

  problem::Result Decide(const problem::Problem& sized, size_t rung, problem::Bytes capacity,
                         const base::Budget& budget, const base::Stop& stop);
  void OpenFor(problem::Bytes capacity);

  std::string engine_;
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
  BackendFactory open_backend_;
  std::optional<Demands> demands_;
  std::unique_ptr<Opened> opened_;
};

}  // namespace tessera::encoder
