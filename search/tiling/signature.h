#pragma once

#include <string>

#include "tessera/problem/problem.h"

// What is left of a Problem when everything is taken away on which no answer depends: blocks of a network that
// repeat leave the same.
namespace tessera::search {

// Buffers are called "#0", "#1", .. in their order and have neither roles nor annotations; the Problem, its rules and costs
// have no names. Where no memory has modes or ports, accesses and loops are gone too, and steps are numbered by the
// births and deaths of buffers alone, in their order. An allocation of the one is an allocation of the other.
problem::Problem WithoutNames(const problem::Problem& problem);

// Equal for two such Problems exactly when they are equal but for their sizes.
std::string SignatureOf(const problem::Problem& nameless);

// Puts the buffers' ids back into a sentence about the Problem without names.
std::string RestoreNames(const std::string& sentence, const problem::Problem& problem);

}  // namespace tessera::search
