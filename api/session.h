// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_SESSION_H_
#define TESSERA_SESSION_H_

#include <tessera/allocate.h>
#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>
#include <tessera/tile.h>

#include <cstddef>
#include <cstdint>
#include <memory>

// Calls that share what they learn:
//
//     tessera::Session session;
//     for (const tessera::Profile& profile : sweep) session.MakePlan(network, profile);
namespace tessera {
inline namespace v0 {

struct SessionOptions {
  std::size_t most_bytes = std::size_t{256} << 20;  // kept between calls, approximately
};

struct SessionCounts {
  std::int64_t hits = 0;     // calls whose answer was known
  std::int64_t misses = 0;   // calls that searched
  std::int64_t dropped = 0;  // answers that were given up for lack of space
  std::size_t bytes = 0;     // bytes of the kept answers of calls, approximately
  std::int64_t known = 0;    // questions to engines that kept answers settled
  std::int64_t asked = 0;    // questions that engines had to answer
};

// Keeps the answers of calls, of engines about Problems, and costs of intervals of operators, for
// later calls. Its calls return the answers of the functions with the same names: the session
// changes the time that they take, never the answer. Inputs are compared in full. Answers that a
// deadline, a memory limit or a cancellation cut off are not kept. Threads may share a session;
// copies are one session.
class TESSERA_API Session {
 public:
  // If memory runs out, the session has no state.
  explicit Session(const SessionOptions& options = {}) noexcept;

  // False if there was no memory for the state. Each call of the session then returns the error
  // kStopped, and its counts are 0.
  bool HasState() const noexcept { return content_ != nullptr; }

  Result<PlanAnswer> MakePlan(const Network& network, const Profile& profile,
                              const PlanOptions& options = {}) const;
  Result<AllocateAnswer> Allocate(const Problem& problem,
                                  const AllocateOptions& options = {}) const;
  // tessera::Revise, applied to the answer of Allocate to the problem, which is usually kept
  // already.
  Result<RevisedAnswer> Revise(const Problem& problem, const Revision& revision,
                               const AllocateOptions& options = {}) const;
  Result<TileAnswer> FindTiles(const Network& network, const Profile& profile,
                               const TileOptions& options = {}) const;

  SessionCounts Count() const noexcept;

  // Forgets everything.
  void Clear() const noexcept;

  struct Content;

 private:
  std::shared_ptr<Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_SESSION_H_
