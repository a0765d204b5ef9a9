// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/plan/plan.h"

// Plans that run, each an example of one feature, with every buffer at its own address; and handles
// to their parts.
namespace tessera::plan::execute {

// Two convolutions of 10 rows in tiles of 4, 4 and 2, weights in two slices, a step for each
// transfer:
//
//     step   0 load x | 1 load wa  2 a | 3 load wb  4 b | 5 store y
//            [0, 6) runs three times; [1, 3) and [3, 5) run twice
Plan StreamedSerialized();

// The same in five tiles of 2, with transfers that overlap compute:
//
//     step   0 P | 1 a  2 b | 3 a  4 b | 5 E                        leaves after step 2
Plan StreamedDoubleBuffered();

// The same with whole weights in three tiles, straight through:
//
//     step   0 P | 1 a  2 b | 3 a  4 b | 5 a  6 b | 7 E
Plan ThreeTiles();

// The same as two subgraphs of two tiles, with the map between them in DRAM, serialized:
//
//     step   0 load wa | 1 load x  2 a  3 store m | 4 load wb | 5 load m  6 b  7 store y
Plan TwoSubgraphs();

// The same in one subgraph of two tiles, pads stored, serialized:
//
//     step   0 load wa  1 load wb | 2 load x  3 a  4 b  5 store y
Plan StoredPads();

// x -> relu -> m [1, 2, 6, 6] -> pool -> y [1, 2, 2, 2], all in SRAM, m with pads around it, in
// four tiles of one row and column. The windows have gaps: that of y [r, c] takes rows 3 r and 3 r
// + 7 of m, and the same columns, the second of them in the pads. m is a result, so each tile makes
// a quarter of it:
//
//     step   0 relu  1 pool                                              [0, 2) four times
Plan WholeWithPads();

// The same two convolutions, each with a scratch.
Plan WithScratch();

// s = x + state, in one tile. x and y are read and written directly in DRAM; the state lies in
// SRAM.
//
//     step   0 add  1 relu
Plan WithState();

// x -> conv -> a -> relu -> y, in DRAM, which engines do not access; the host runs relu:
//
//     step   0 load w | 1 load x  2 conv  3 store a | 4 relu              [1, 4) runs twice
Plan OnHost();

// x -> relu -> a -> b = a + x, all in SRAM but x and y; b in the place of a:
//
//     step   0 load x  1 relu  2 add  3 store b
Plan InPlace();

// A cache [1, 2, 7, 4] grows by a row in its place: concat of cache and x -> all. An activation
// reads all and makes y.
Plan StateAliasing();

// A depthwise operator, 3x3 with stride 2, in the place of its operand: x [1, 4, 8, 8] -> y [1, 4,
// 4, 4], one tile. In the second plan the weights come in slices of two channels.
Plan ByChannel();
Plan ByChannelInRounds();

// Index of the buffer of that id.
size_t BufferAt(const Plan& plan, const std::string& id);
int64_t& OffsetOf(Plan& plan, const std::string& id);
problem::Buffer& FactsOf(Plan& plan, const std::string& id);
BufferUse& UseOf(Plan& plan, const std::string& id);

// The plan without that buffer.
void RemoveBuffer(Plan& plan, const std::string& id);

}  // namespace tessera::plan::execute
