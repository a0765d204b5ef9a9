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

// How a text states a problem.
struct ListFormat {
  std::string format = {};  // one of ListFormats() of lists.h; empty: the text decides: JSON or CSV
  std::string lifetimes = {};  // of a CSV: "half-open" (empty), "inclusive" or "exclusive"
};

// Buffers, memories with banks and modes, and constraints on placements (docs/problem-format.md).
// Immutable and thread-safe; copies share the content.
class TESSERA_API Problem {
 public:
  // Read a problem, from a file ("-" is standard input) or from a text. `name` is for messages. A
  // CSV may have a column `end` only if its lifetimes are stated.
  static Result<Problem> Load(const std::string& path, const ListFormat& format = {});
  static Result<Problem> Parse(std::string_view text, const std::string& name = "problem",
                               const ListFormat& format = {});

  // Makes a problem of these buffers in one memory of `capacity` bytes, or in a memory without a
  // limit.
  static Result<Problem> Make(const std::vector<Buffer>& buffers,
                              std::optional<std::int64_t> capacity = {});

  // As Make, but from columns, which are read only during the call.
  static Result<Problem> FromColumns(const BufferColumns& buffers,
                                     std::optional<std::int64_t> capacity = {});

  // Returns a problem with the same buffers in the tile memory of the profile, under its rules.
  Result<Problem> InMemoryOf(const Profile& profile) const;

  // Returns a copy whose memories have these capacities in bytes. Each memory may be named once;
  // the others keep their capacities.
  Result<Problem> WithCapacities(
      const std::vector<std::pair<std::string, std::int64_t>>& capacities) const;

  // Returns a copy with one more constraint. Only engines that support it place the buffers, and
  // every placement is checked against it. Allocate and Check accept such a problem. Other calls
  // return kUnsupported, and it cannot be written to a file.
  Result<Problem> With(const OffsetConstraint& constraint) const;

  // The names of the tile candidates of the file, and the problem with the sizes of one of them. A
  // problem with candidates can be allocated only after one is chosen.
  const std::vector<std::string>& Candidates() const noexcept;
  Result<Problem> AtCandidate(const std::string& candidate) const;

  std::size_t BufferCount() const noexcept;

  // Returns what the reader of a file left out, in sentences.
  const std::vector<std::string>& Notes() const noexcept;

  // Returns the problem as "json", or in another format of ListFormats() that can state it.
  Result<std::string> Render(std::string_view format) const;

  struct Content;
  explicit Problem(std::shared_ptr<const Content> content) noexcept;
  const Content& Get() const noexcept { return *content_; }

 private:
  std::shared_ptr<const Content> content_;
};

struct AllocateOptions : SearchOptions {
  std::optional<std::int64_t> capacity = {};  // bytes of the first memory; not set: the problem's
  // Minimise the peak within the capacity, instead of finding any placement. If neither this call
  // nor the problem states a capacity, the peak is minimised anyway.
  bool minimize = false;
  // The peaks to minimise if the problem has several memories, instead of the sum of all: weights
  // above 0 of memories by name, or {{"relative", 1}}, the sum of each peak over its lower bound.
  // {{"sum", 1}} is the sum of all. If this is not empty, `minimize` need not be set.
  std::vector<std::pair<std::string, double>> peaks = {};
  // A peak that exceeds the lower bound by at most this percentage, of 0 to 1000, is low enough.
  double gap_percent = 0;
  bool explain = true;   // infeasible answers: AllocateAnswer::explanation
  bool certify = false;  // AllocateAnswer::certificate
};

// An address for each buffer, and a mode of each memory at each step. Calls return only allocations
// that independent code has accepted. Immutable and thread-safe; copies share the content.
class TESSERA_API Allocation {
 public:
  // Reads an allocation of the problem in the JSON that Render writes, without checking it.
  static Result<Allocation> Parse(const Problem& problem, std::string_view json,
                                  const std::string& name = "allocation.json");

  const Problem& PlacedProblem() const noexcept;
  const std::vector<std::int64_t>& Offsets() const noexcept;  // bytes, in the order of the buffers
  std::int64_t Peak() const noexcept;                         // bytes, in the first memory

  // Returns the allocation in one of the formats "json", "csv" and "svg".
  Result<std::string> Render(std::string_view format) const;

  // Writes the allocation in the format of the suffix. The file is replaced in one step.
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
  // If peaks of several memories were minimised and there is an allocation: each peak, their
  // weighted sum, and a lower bound of this sum.
  std::vector<MemoryPeak> peaks = {};
  double score = 0;
  double score_bound = 0;
  std::string engine = {};  // that found the answer
  std::string reason = {};  // why there is no allocation, or no better one known
  // kInfeasible: the few conditions that collide, and changes that would help, in sentences.
  std::vector<std::string> explanation = {};
  // The proof that nothing fits, or nothing below the least peak, if the options ask for it. If it
  // was not found, `no_certificate` has the reason.
  std::optional<Certificate> certificate = {};
  std::string no_certificate = {};
  bool stopped = false;        // a deadline, a memory limit or a cancellation cut it off
  bool out_of_memory = false;  // the memory limit cut it off
};

// Returns the best allocation that is found. An answer without an allocation is not an error.
TESSERA_API Result<AllocateAnswer> Allocate(const Problem& problem,
                                            const AllocateOptions& options = {});

// Changes of the buffers of a problem. Relations, rules and costs that name a removed buffer are
// removed too. Added buffers lie in the first memory and follow the others in the order of the
// buffers.
struct Revision {
  std::vector<Buffer> add = {};
  std::vector<std::string> remove = {};                           // by id
  std::vector<std::pair<std::string, std::int64_t>> resize = {};  // by id; the new size in bytes
};

struct RevisedAnswer : AllocateAnswer {
  std::size_t moved = 0;  // buffers of unchanged size whose offset changed
};

// Returns an allocation of the revised problem, which is PlacedProblem() of the allocation. It is
// as good as the answer of Allocate to that problem. A small search keeps as many buffers as it can
// at their offsets. Where most can stay, the call takes a small part of the time of Allocate.
TESSERA_API Result<RevisedAnswer> Revise(const Allocation& before, const Revision& revision,
                                         const AllocateOptions& options = {});

// Why buffers do not fit (docs/reasons.md).
struct Explanation {
  // kInfeasible: the rest explains it. kFeasible: everything fits. kUnknown: a limit came first.
  Outcome outcome = Outcome::kUnknown;
  std::string summary = {};                  // in one sentence
  std::vector<std::string> conditions = {};  // that cannot hold together
  bool minimal = false;                      // if any one is dropped, the others can hold
  // Single changes that make everything fit: "with 1 byte more in the memory, 12 in all". Each was
  // tried, and its placement checked.
  std::vector<std::string> changes = {};
  bool all_tried = false;  // other changes of these kinds are proven not to help
};

// Returns the few conditions that collide within the capacity of the options or of the problem, and
// changes that would help.
TESSERA_API Result<Explanation> Explain(const Problem& problem,
                                        const AllocateOptions& options = {});

// Checks every requirement of the problem as its definition states it. `capacity` is that of the
// first memory; if it is not set, the capacity of the allocation applies, or else that of the
// problem.
TESSERA_API Result<CheckReport> Check(const Allocation& allocation,
                                      std::optional<std::int64_t> capacity = {});

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_ALLOCATE_H_
