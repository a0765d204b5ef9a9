// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_LISTS_H_
#define TESSERA_LISTS_H_

#include <tessera/allocate.h>
#include <tessera/result.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Lists of buffers: in the formats of other tools (docs/convert.md), in figures, and generated
// (docs/generate.md).
//
//     auto problem = tessera::Problem::Load("tensors.json", {"executorch"});
//     auto csv = tessera::WriteList(*problem, {"csv"});
namespace tessera {
inline namespace v0 {

// Returns the formats of lists: "csv", "json", "trace", "dsa-solver", "executorch", "tvm" and
// "tflite-micro". Problem::Load reads and Problem::Render writes them; a list can only be written
// as "tflite-micro".
TESSERA_API Result<std::vector<std::string>> ListFormats();

// A list as a text, and what the text was compared in.
struct WrittenList {
  std::string text = {};
  std::size_t buffers = 0;
  std::int64_t load = 0;   // bytes: the most that live at one step, in any memory
  std::int64_t pairs = 0;  // of buffers that must not share addresses
};

// Writes the problem in a stated format. Returns kUnsupported if the format cannot state the
// problem. The text is read back and must state as many buffers, the same load and as many pairs.
TESSERA_API Result<WrittenList> WriteList(const Problem& problem, const ListFormat& format);

struct Spread {
  std::int64_t least = 0;
  std::int64_t median = 0;
  std::int64_t most = 0;
};

// Figures about the buffers of one memory. Births and deaths divide time into sections with the
// same live buffers; a section is maximal if no adjacent one contains all of its buffers.
struct MemoryStatistics {
  std::string memory = {};  // empty if it has no name
  std::int64_t buffers = 0;
  std::int64_t steps = 0;      // at which a buffer lives
  std::int64_t load = 0;       // bytes: the most that live at one step
  std::int64_t load_step = 0;  // the first such step
  double fill = 0;             // the mean over these steps, as a share of the load
  std::int64_t most_alive = 0;
  double mean_alive = 0;
  std::int64_t pairs = 0;           // of lifespans of different buffers that share a step
  double density = 0;               // these, as a share of all pairs
  std::int64_t sections = 0;        // maximal ones
  std::int64_t tight_sections = 0;  // maximal ones with at least 95 % of the load
  std::int64_t core = 0;            // buffers that live in a tight section
  std::int64_t parts = 0;           // ranges of time that no buffer connects
  Spread sizes = {};                // bytes
  std::int64_t distinct_sizes = 0;
  Spread lives = {};           // steps from the first birth to the last death
  std::int64_t alignment = 1;  // bytes: the greatest
  std::int64_t fixed_offsets = 0;
  std::int64_t lives_with_gaps = 0;
  std::int64_t relations = 0;
  std::int64_t rules = 0;       // of the whole problem
  std::int64_t costs = 0;       // of the whole problem
  std::string elementary = {};  // "disjoint", "one size" or "no": the load is the least peak
  // The expected work for the least peak and its proof: log10 of milliseconds, 0 to 6. It is a
  // regression over the generated families, and no bound.
  double hardness = 0;
  std::string predicted = {};  // "at once", "easy", "hard" or "very hard"
};

struct Statistics {
  std::vector<MemoryStatistics> memories = {};
  std::string text = {};  // as `tessera stats` prints it
  std::string json = {};  // the same with --format json
};

// Describes how large, tight and hard a problem is, without a search.
TESSERA_API Result<Statistics> StatisticsOf(const Problem& problem);

// A number that families accept.
struct ListParameter {
  std::string name = {};
  std::string meaning = {};
  std::int64_t otherwise = 0;  // if it is not given
  std::int64_t least = 0;
  std::int64_t most = 0;
};

struct ListFamily {
  std::string name = {};
  std::string meaning = {};
  std::vector<ListParameter> parameters = {};  // that it accepts
};

// Return all families of generated lists, and the parameters of all of them.
TESSERA_API Result<std::vector<ListFamily>> ListFamilies();
TESSERA_API Result<std::vector<ListParameter>> ListParameters();

// What is added to a list, drawn from the seed. Fixed offsets and separated pairs agree with a
// known solution, which stays valid, and whose top becomes the capacity.
struct ListVariations {
  std::uint64_t seed = 1;
  double fixed_share = 0;      // 0 to 1: the share of the offsets that are fixed
  std::int64_t separated = 0;  // pairs that must not share addresses
  std::int64_t penalties = 0;  // pairs that never live together, for which sharing costs 1
  bool values = false;         // each buffer has a value: its bytes times 1 to 8
};

struct ListRequest : ListVariations {
  std::string family = {};
  std::int64_t buffers = 100;
  std::vector<std::pair<std::string, std::int64_t>> parameters = {};  // those of the family
};

struct GeneratedList {
  Problem problem;
  // The pairs that were found. Fewer than requested if the list has hardly any others.
  std::int64_t separated = 0;
  std::int64_t penalties = 0;
};

// Returns a list of a family. Equal requests give equal lists on every machine.
TESSERA_API Result<GeneratedList> GenerateList(const ListRequest& request);

// Returns the given list with variations. For fixed offsets and separated pairs every buffer must
// have a fixed offset: these are the known solution, and are freed first.
TESSERA_API Result<GeneratedList> VaryList(const Problem& problem,
                                           const ListVariations& variations);

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_LISTS_H_
