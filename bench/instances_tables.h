#pragma once

// Tables about generated instances (problem/generate), printed to standard output. `seconds` limit
// each answer.
namespace tessera::bench {

// Predicted hardness against measured processor time, with their rank correlation.
void PrintHardness(double seconds);

// Buffers that never overlap and buffers of one size, up to a million.
void PrintElementary(double seconds);

}  // namespace tessera::bench
