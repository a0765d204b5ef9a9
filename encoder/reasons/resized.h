#pragma once

#include "tessera/encoder/reasons/conditions.h"

// Questions with one more or one other thing than the one they are made from.
namespace tessera::encoder::reasons {

// With another alignment of the buffer of a kAlignment, or the memory of a kMemoryAlignment.
Query WithAlignment(const Query& query, const problem::Condition& condition, problem::Bytes alignment);

// Without alignments of buffers.
Query WithoutAlignments(const Query& query);

// With `ports` more of each kind that is limited in the bank of a kPorts.
Query WithPorts(const Query& query, const problem::Condition& condition, int ports);

// With a bank more behind everything that the memory holds, as long as bank `item`, which does what that does in every mode, and is
// allowed to the same buffers.
Query WithCopyOfBank(const Query& query, int memory, int item);

// With a bank of `length` bytes more behind everything that the memory holds, in which every mode allows every access, and which is
// allowed to all buffers.
Query WithFreeBank(const Query& query, int memory, problem::Bytes length);

// The address behind everything that the memory holds.
problem::Bytes EndOf(const Query& query, int memory);

// Whether WithCopyOfBank of both asks the same.
bool AreAlike(const Query& query, int memory, int bank, int other);

}  // namespace tessera::encoder::reasons
