// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_ALLOCATE_H_
#define TESSERA_ALLOCATE_H_

#include <tessera/call.h>
#include <tessera/certificate.h>
#include <tessera/constraint.h>
#include <tessera/profile.h>
#include <tessera/result.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Addresses for buffers with lifespans, without a network:
//
//     auto problem = tessera::Problem::Make({{"a", 4, {{0, 3}}}, {"b", 8, {{2, 9}}}});
//     auto answer = tessera::Allocate(*problem);
//     if (answer && answer->allocation) answer->allocation->Offsets()  // {8, 0}, or other ones
namespace tessera {
inline namespace v0 {

struct Buffer {
  std::string id;         // unique
  std::int64_t size = 0;  // bytes, 1 or more
  // Half-open ranges of steps in which it lives: at least one; ascending, with gaps between them.
  std::vector<std::pair<std::int64_t, std::int64_t>> steps = {};
  std::int64_t alignment = 1;               // bytes
  std::optional<std::int64_t> offset = {};  // fixed
  std::optional<std::int64_t> hint = {};    // tried first
};

// A column of numbers in the memory of the caller, such as a NumPy array: row i is data[i *
// stride].
struct Column {
  const std::int64_t* data = nullptr;  // nullptr: there is no such column
  std::ptrdiff_t stride = 1;           // in numbers

  std::int64_t operator[](std::size_t row) const {
    return data[static_cast<std::ptrdiff_t>(row) * stride];
  }
};

// Buffers as columns with a row for each. They have the ids "b0", "b1", ..., and one range of
// steps.
struct BufferColumns {
  std::size_t count = 0;
  Column lower = {};      // the first step
  Column upper = {};      // the step after the last
  Column size = {};       // bytes, 1 or more
  Column alignment = {};  // bytes; no column: 1
  Column offset = {};     // fixed, in bytes; -1, or no column: free
  Column hint = {};       // tried first, in bytes; -1, or no column: none
};

// Buffers, memories with banks and modes, and what placements must keep (docs/problem-format.md). A
// value that never changes; copies share it, and threads may too.
class TESSERA_API Problem {
 public:
  // A problem in CSV or JSON.
  static Result<Problem> Load(const std::string& path);
  static Result<Problem> Parse(std::string_view text, const std::string& name = "problem");

  // These buffers in one memory of that many bytes; not set: without an end.
  static Result<Problem> Make(const std::vector<Buffer>& buffers,
                              std::optional<std::int64_t> capacity = {});

  // The same from columns, which are read during the call only.
  static Result<Problem> FromColumns(const BufferColumns& buffers,
                                     std::optional<std::int64_t> capacity = {});

  // The same buffers in the tile memory of the profile, under its rules.
  Result<Problem> InMemoryOf(const Profile& profile) const;

  // The same buffers in memories of these capacities in bytes. Each is named once; those that are
  // not named keep theirs.
  Result<Problem> WithCapacities(
      const std::vector<std::pair<std::string, std::int64_t>>& capacities) const;

  // The same with one more constraint, which is part of the problem from now on: no engine that
  // does not know it places the buffers, and every placement is checked against it. Allocate and
  // Check take such a problem; other calls are kUnsupported, and it cannot be written to a file.
  Result<Problem> With(const OffsetConstraint& constraint) const;

  // The tile candidates of the file, and the problem with the sizes of one of them. A problem with
  // candidates cannot be allocated before one is chosen.
  const std::vector<std::string>& Candidates() const noexcept;
  Result<Problem> AtCandidate(const std::string& candidate) const;

  std::size_t BufferCount() const noexcept;

  // The problem as "json", or as "csv" where that can express it.
  Result<std::string> Render(std::string_view format) const;

  struct Content;
  explicit Problem(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

struct AllocateOptions : SearchOptions {
  std::optional<std::int64_t> capacity = {};  // bytes of the first memory; not set: the problem's
  // Look for the least peak within the capacity, not for any placement. Where neither this call
  // nor the problem states a capacity, it is looked for anyway.
  bool minimize = false;
  // Which peaks that is where the problem has several memories, in place of the sum of all: weights
  // above 0 of memories by name, or {{"relative", 1}}, the sum of each peak over its lower bound.
  // {{"sum", 1}} is the sum of all. Not empty, `minimize` need not be set.
  std::vector<std::pair<std::string, double>> peaks = {};
  // A peak that exceeds the lower bound by at most this percentage, of 0 to 1000, is low enough.
  double gap_percent = 0;
  bool explain = true;   // infeasible answers: AllocateAnswer::explanation
  bool certify = false;  // AllocateAnswer::certificate
};

// An address for each buffer, and a mode of each memory at each step. Independent code has accepted
// it. A value that never changes; copies share it, and threads may too.
class TESSERA_API Allocation {
 public:
  // An allocation of the problem in JSON as Render writes it. It is read, not checked.
  static Result<Allocation> Parse(const Problem& problem, std::string_view json,
                                  const std::string& name = "allocation.json");

  const Problem& PlacedProblem() const noexcept;
  const std::vector<std::int64_t>& Offsets() const noexcept;  // bytes, in the order of the buffers
  std::int64_t Peak() const noexcept;                         // bytes, in the first memory

  // The allocation in one of the formats "json", "csv" and "svg".
  Result<std::string> Render(std::string_view format) const;

  // Writes it in the format of the suffix. The file is replaced in one step.
  Result<Done> Save(const std::string& path) const;

  struct Content;
  explicit Allocation(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

// The peak of one of several memories, in bytes.
struct MemoryPeak {
  std::string memory = {};
  std::int64_t peak = 0;
  std::int64_t lower_bound = 0;  // no placement has a lower peak
};

struct AllocateAnswer {
  Outcome outcome = Outcome::kUnknown;
  std::optional<Allocation> allocation = {};  // kOptimal, kFeasible
  std::int64_t lower_bound = 0;               // no placement has a lower peak in the first memory
  std::optional<std::int64_t> cost = {};      // of the allocation, where the problem states costs
  // Where peaks of several memories were minimised, of an allocation: each of them, their weighted
  // sum, and what no placement undercuts.
  std::vector<MemoryPeak> peaks = {};
  double score = 0;
  double score_bound = 0;
  std::string engine = {};  // that found the answer
  std::string reason = {};  // why there is no allocation, or no better one known
  // kInfeasible: the few conditions that collide, and changes that would help, in sentences.
  std::vector<std::string> explanation = {};
  // The proof that nothing fits, or nothing below the least peak, if the options ask for it and it
  // was found; else the reason.
  std::optional<Certificate> certificate = {};
  std::string no_certificate = {};
  bool stopped = false;        // a deadline, a memory limit or a cancellation cut it off
  bool out_of_memory = false;  // a memory limit did
};

// The best allocation that is found. An answer without one is no error.
TESSERA_API Result<AllocateAnswer> Allocate(const Problem& problem,
                                            const AllocateOptions& options = {});

// Changes of the buffers of a problem. Relations, rules and costs that name a removed buffer go
// with it. Added buffers lie in the first memory, behind the others in the order of the buffers.
struct Revision {
  std::vector<Buffer> add = {};
  std::vector<std::string> remove = {};                           // by id
  std::vector<std::pair<std::string, std::int64_t>> resize = {};  // by id, to so many bytes
};

struct RevisedAnswer : AllocateAnswer {
  std::size_t moved = 0;  // buffers of the same size as before at another offset
};

// The allocation of the revised problem, PlacedProblem() of the answer. It is as good as the answer
// of Allocate to that problem. As many buffers stay at their offsets as that permits, as far as a
// small search finds out; where they can, the time is a small part of that of Allocate.
TESSERA_API Result<RevisedAnswer> Revise(const Allocation& before, const Revision& revision,
                                         const AllocateOptions& options = {});

// Why buffers do not fit (docs/reasons.md).
struct Explanation {
  // kInfeasible: the rest explains it. kFeasible: everything fits. kUnknown: a limit came first.
  Outcome outcome = Outcome::kUnknown;
  std::string summary = {};                  // in one sentence
  std::vector<std::string> conditions = {};  // that cannot hold together
  bool minimal = false;                      // without any one of them the others can
  // Single changes that make everything fit: "with 1 byte more in the memory, 12 in all". Each was
  // tried, and its placement checked.
  std::vector<std::string> changes = {};
  bool all_tried = false;  // other changes of these kinds are proven not to help
};

// The few conditions that collide within the capacity of the options or of the problem, and changes
// that would help.
TESSERA_API Result<Explanation> Explain(const Problem& problem,
                                        const AllocateOptions& options = {});

// Checks every requirement of the problem as its definition states it. `capacity`: of the first
// memory; not set: the one of the allocation, else the problem's.
TESSERA_API Result<CheckReport> Check(const Allocation& allocation,
                                      std::optional<std::int64_t> capacity = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_ALLOCATE_H_
