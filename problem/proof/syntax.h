#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/proof/literal.h"

// How a proof is written down: lines of words, numbers and literals. docs/certificate-format.md is the
// reference.
//
//     tessera-proof 1
//     given 1 stack 4 7 : b7,4 x4<64 x7>=96        an axiom with a number
//     clause 2 : b4,7 x7<96                        a claim, ...
//     stack 4 : b7,4 x4<64 x7>=96                  ... and why: axioms on the spot
//     use 1                                        and clauses from above
//     end
namespace tessera::problem::proof {

// Why an axiom holds in every placement (grounds.h).
enum class Ground : uint8_t {
  kStack,
  kRoom,
  kTie,
  kTouch,
  kBanks,
  kMode,
  kFollow,
  kAccess,
  kPorts,
  kRule,
  kGuard,
  kHandover,
  kDelta
};

inline constexpr std::array<std::string_view, 13> kGroundNames = {
    "stack",  "room",  "tie",  "touch", "banks",    "mode", "follow",
    "access", "ports", "rule", "guard", "handover", "delta"};

struct Axiom {
  Ground ground = Ground::kStack;
  std::vector<int64_t> subjects;  // what the ground speaks of, by number
  std::vector<Literal> literals;
};

// One line of a proof, without its line break.
struct Line {
  enum class Kind : uint8_t { kHeader, kGiven, kClause, kAxiom, kUse, kEnd };

  Kind kind = Kind::kEnd;
  int64_t number = 0;         // of kGiven and kClause
  Axiom axiom;                // of kGiven and kAxiom; of kClause the literals alone
  std::vector<int64_t> used;  // of kUse: numbers of clauses, in the order of their use
  std::string flaw;           // what keeps the text from being a line; empty: nothing
};

// Reads one line into `line`, whose storage is reused. Every byte counts: words and numbers are separated by one
// space, numbers have no leading zeros. False when `line.flaw` says what is wrong.
bool ReadLine(std::string_view text, Line& line);

// Writes lines in the form that ReadLine reads.
void WriteHeader(std::string& text);
void WriteGiven(std::string& text, int64_t number, const Axiom& axiom);
void WriteAxiom(std::string& text, const Axiom& axiom);
void WriteClause(std::string& text, int64_t number, std::span<const Literal> literals);
void WriteUse(std::string& text, std::span<const int64_t> numbers);
void WriteEnd(std::string& text);

std::string ToString(const Literal& literal);

}  // namespace tessera::problem::proof
