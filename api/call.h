// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_CALL_H_
#define TESSERA_CALL_H_

#include <tessera/result.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The common parts of all long calls: their outcome and their limits.
namespace tessera {
inline namespace v0 {

// What is known about the question of a call. kUnknown never means infeasible.
enum class Outcome : std::uint8_t {
  kOptimal,      // an answer, and a proof that none is better
  kFeasible,     // an answer
  kInfeasible,   // proven: there is no answer
  kUnknown,      // a limit came first
  kUnsupported,  // the question asks for something that is not supported
};

// "optimal", "feasible", ...
TESSERA_API const char* NameOf(Outcome outcome) noexcept;

// Ends calls early, from any thread. A cancelled call returns its best answer so far. A canceller
// stays cancelled. Copies share one state.
class TESSERA_API Canceller {
 public:
  // If memory runs out, the canceller has no state.
  Canceller() noexcept;

  // False if there was no memory for the state. The canceller then is cancelled from the start, and
  // each call that it could end returns the error kStopped.
  bool HasState() const noexcept { return content_ != nullptr; }

  void Cancel() const noexcept;
  bool IsCancelled() const noexcept;

  struct Content;
  Content& Get() const noexcept { return *content_; }  // only with a state

 private:
  std::shared_ptr<Content> content_;
};

// A report of long work.
struct Progress {
  std::string_view line;                 // for people
  std::string_view phase = {};           // what is counted: "intervals", "pairs", "peak", ..
  std::int64_t done = 0;                 // of the phase
  std::int64_t total = 0;                // 0: not known
  std::optional<double> incumbent = {};  // the score of the best answer so far
  // Proven: no answer has a lower score, for the network in the form that is searched at that time.
  std::optional<double> bound = {};

  operator std::string_view() const noexcept { return line; }
};

// The limits that end a call before its work is done, and the share of the machine that it uses.
// None of this changes an answer that was not cut off.
struct CallOptions {
  // Seconds of wall clock. 0 or less ends the search at once, with the first answer that it can
  // return.
  std::optional<double> timeout_s = {};
  // Bytes that the process holds; not set: three quarters of what it may hold.
  std::optional<std::int64_t> memory_limit = {};
  std::optional<Canceller> canceller = {};
  int threads = 1;
  // Provides the threads, instead of the call: calls `work`, which throws nothing, up to `count`
  // times, at the same time if it can, and returns when these calls have ended. Fewer calls take
  // longer, and change no answer. Used for calls with more than one thread.
  std::function<void(int count, const std::function<void()>& work)> executor = {};
  // Receives the progress of long work, from any of the threads, one at a time. A function that
  // takes a std::string_view receives the line.
  std::function<void(const Progress&)> progress = {};
};

// The options of calls that search.
struct SearchOptions : CallOptions {
  std::uint64_t seed = 0;
  std::optional<std::int64_t> budget = {};     // of work, as --budget
  std::string engine = {};                     // use only this engine; empty: the default ones
  std::vector<std::string> switched_off = {};  // rules of engines, by name
};

// The result of a check by code that shares nothing with the search.
struct CheckReport {
  bool accepted = false;                   // checked in full, and nothing is wrong
  std::vector<std::string> findings = {};  // what is wrong
  std::string open = {};                   // why it is neither accepted nor refused
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_CALL_H_
