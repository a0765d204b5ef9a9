#pragma once

#include <cstdint>

// Everything that the lazy engine decides is an integer, and everything that it knows of one is a bound.
//
//     integer x     view 2x:    x >= v         "the offset is at least v"
//                   view 2x+1: -x >= v         "the offset is at most -v"
//
// A bound literal "view >= bound" needs no variable of its own: it is true, false or open by comparing two
// numbers, so literals come into being when a rule or a clause mentions them (lazy clause generation: Ohrimenko,
// Stuckey and Codish 2009; on demand for each value: Feydy and Stuckey 2009). The order literal "i below j" is
// the literal "x >= 1" of an integer x in {0, 1}; its negation "-x >= 0" reads "j below i".
namespace tessera::encoder::lazy {

// Sizes and offsets in units of the Problem's granule (packing.h); the packing keeps every sum of two within it.
using Bound = int64_t;
using View = int32_t;

struct Literal {
  View view = 0;
  Bound bound = 0;
  friend bool operator==(const Literal&, const Literal&) = default;
};

constexpr View Opposite(View view) { return view ^ 1; }
constexpr int IntegerOf(View view) { return view >> 1; }

// The literal that makes an integer in {0, 1} equal to 1 (even view) or 0 (odd view).
constexpr Literal OrderLiteral(View view) { return {view, (view & 1) != 0 ? 0 : 1}; }

}  // namespace tessera::encoder::lazy
