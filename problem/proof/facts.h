#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::problem::proof {

// What a Problem says of single buffers and of pairs when memories[0] has `capacity` bytes: the numbers that
// axioms are held against. Everything is computed from the Problem; a requirement that is not looked at here
// only makes fewer proofs succeed, for a Problem with less required has more placements.
//
// *Granule.* If a placement exists, one exists in which every offset is a multiple of its memory's granule:
// round all offsets of a placement down. Sizes, alignments above 1, fixed offsets, distances, and the borders of
// reserved ranges and banks are multiples of the granule, so what lay apart stays apart, nothing enters a range
// or a bank that it did not touch, and ends only sink. Where rounding could break more, beside an adjacent buffer
// and where the banks or distances of several must be equal, the granule divides the alignments, so that nothing
// there moves. Of rules it divides moduli, residues, distances, guards and the begins of windows; where two
// addresses differ in given bits it is a power of two, so that rounding clears only bits in which both agree.
class Facts {
 public:
  // What keeps the numbers from being added safely, or nullopt: addresses beyond 2^60.
  static std::optional<std::string> FindFault(const Problem& problem, Bytes capacity);

  // Needs a well-formed Problem without that fault, which outlives this.
  Facts(const Problem& problem, Bytes capacity);

  const Problem& problem() const { return problem_; }
  int Buffers() const { return static_cast<int>(problem_.buffers.size()); }
  const Buffer& BufferAt(int buffer) const { return problem_.buffers[static_cast<size_t>(buffer)]; }
  const Memory& MemoryOf(int buffer) const {
    return problem_.memories[static_cast<size_t>(BufferAt(buffer).memory)];
  }
  Bytes SizeOf(int buffer) const { return BufferAt(buffer).size; }
  Bytes CapacityOf(int memory) const { return capacities_[static_cast<size_t>(memory)]; }

  // Every offset of the buffer is a multiple of this.
  Bytes StrideOf(int buffer) const { return strides_[static_cast<size_t>(buffer)]; }
  // The first and last multiple that the capacity, or a fixed offset, leaves. The first may exceed the last: then
  // nothing fits.
  Bytes LowestOf(int buffer) const { return lowest_[static_cast<size_t>(buffer)]; }
  Bytes HighestOf(int buffer) const { return highest_[static_cast<size_t>(buffer)]; }

  // Whether the two must not share an address: because they live together, and neither a colocate nor an
  // exclusive relation lets them, or because a separate relation says so.
  bool LieApart(int a, int b) const;

  // Whether a colocate or exclusive relation lets the two share addresses.
  bool MayShare(int a, int b) const;

  // Bytes of [begin, end) that are reserved in the memory.
  Bytes ReservedWithin(int memory, Bytes begin, Bytes end) const;

  // Whether the buffer, alone in its memory, could begin at some multiple of its stride in [first, last]: clear of
  // reserved ranges, and in banks as its span and its allowed banks demand.
  bool HasPlace(int buffer, Bytes first, Bytes last) const;

 private:
  using Pairs = std::set<std::pair<int, int>>;

  Bytes GranuleOf(int memory) const;
  Bytes DivisorOf(const Rule& rule) const;
  std::vector<AddressRange> WindowsOf(int buffer) const;

  const Problem& problem_;
  std::vector<Bytes> capacities_;  // of memories
  std::vector<Bytes> strides_;
  std::vector<Bytes> lowest_;
  std::vector<Bytes> highest_;
  std::vector<std::vector<AddressRange>> reserved_;  // of memories: ascending, disjoint, not touching
  Pairs may_share_;
  Pairs separate_;
};

// Whether a number that a proof states is an index below `count`.
inline bool IsIndex(int64_t number, size_t count) {
  return number >= 0 && number < static_cast<int64_t>(count);
}

}  // namespace tessera::problem::proof
