#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"

// Pieces of sentences, with the names that a Problem gives things. Internal to the room.
namespace tessera::problem {

// "'a'"
std::string Quote(std::string_view name);

// "a", "a and b", "a, b and c"; after twelve "and 7 more".
std::string Enumerate(const std::vector<std::string>& words);

// "1 byte", "2 bytes"
std::string Count(int64_t number, std::string_view thing);

// Quoted; by kind and number where there is no name.
std::string NameOfBuffer(const Problem& problem, int buffer);
std::string NameOfMemory(const Problem& problem, int memory);
std::string NameOfBank(const Problem& problem, int memory, int bank);
std::string NameOfMode(const Problem& problem, int memory, int mode);

}  // namespace tessera::problem
