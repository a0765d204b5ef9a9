#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>

#include "tessera/base/stop.h"
#include "tessera/encoder/clause_sink.h"
#include "tessera/encoder/integer_sink.h"

namespace tessera::encoder {

enum class Verdict : uint8_t { kSatisfiable, kUnsatisfiable, kUnknown };

struct Answer {
  Verdict verdict = Verdict::kUnknown;
  std::string reason;  // for kUnknown: what ended the work
  int64_t conflicts = 0;
};

// What a formulation is written to, and where its answer is read back.
class Target : public Model {
 public:
  virtual ClauseSink& Clauses() = 0;
  virtual IntegerSink& Integers() = 0;
};

// A solver that takes clauses and integers and decides them under assumptions, again and again. Its model is
// that of the last Decide, which answered kSatisfiable.
class Backend : public Target {
 public:
  // Budget units are conflicts. Adding clauses afterwards is allowed.
  virtual Answer Decide(std::span<const Literal> assumptions, const base::Budget& budget,
                        const base::Stop& stop) = 0;
};

// How large the formula of a Problem will be, known before any of it is written.
struct Magnitude {
  int64_t positions = 0;  // the most values of any integer
  int64_t greatest = 0;   // the greatest value of any term, differences included
  int64_t pairs = 0;      // of buffers that must not overlap
  int64_t sums = 0;       // of two integers
  bool ladder = false;    // sizes are chosen by rungs
  bool banked = false;    // sums of what banks hold are written
  int64_t memory = std::numeric_limits<int64_t>::max();  // bytes that the formula and its solver may take
};

using BackendFactory = std::function<std::unique_ptr<Backend>(const Magnitude&)>;

}  // namespace tessera::encoder
