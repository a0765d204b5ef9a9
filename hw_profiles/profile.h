// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/hw_profiles/engine.h"
#include "tessera/hw_profiles/rule.h"
#include "tessera/hw_profiles/section_fields.h"
#include "tessera/problem/problem.h"

// A hardware profile: the capabilities of one accelerator's memories, engines and links, and the
// layout of programs for it. Sizes are bytes, times are cycles of `clock_hz`, energies are
// picojoules. docs/profile-format.md is its YAML form.
//
// Each section of a profile is a struct, followed by the table of its keys (section_fields.h); the
// sections of engines are in engine.h.
namespace tessera::hw_profiles {

// A bandwidth. Reads and writes share it if `shared`.
struct Port {
  double read_bytes_per_cycle = 1;
  double write_bytes_per_cycle = 1;
  bool shared = true;
  int64_t read_latency_cycles = 0;
  int64_t write_latency_cycles = 0;
  int64_t burst_bytes = 1;
};

inline constexpr auto kPortFields = std::to_array<Field<Port>>({
    {"bytes_per_cycle"},  // both of the following
    {"read_bytes_per_cycle", &Port::read_bytes_per_cycle, kBandwidths},
    {"write_bytes_per_cycle", &Port::write_bytes_per_cycle, kBandwidths},
    {"shared", &Port::shared},
    {"read_latency_cycles", &Port::read_latency_cycles, kCycles},
    {"write_latency_cycles", &Port::write_latency_cycles, kCycles},
    {"burst_bytes", &Port::burst_bytes, kCounts},
});

struct Memory {
  std::string name;
  int64_t capacity_bytes = 0;
  int64_t alignment_bytes = 1;
  bool writable = true;
  bool direct_read = false;   // engines read operands here, without a tile on chip or a transfer
  bool direct_write = false;  // engines write results here
  Port port;
  double read_pj_per_byte = 0;
  double write_pj_per_byte = 0;
  double leakage_mw = 0;
  std::optional<double> area_mm2 = {};
  std::vector<problem::Reserved> reserved;
  std::vector<problem::Bank> banks;
  std::vector<problem::Mode> modes;
  std::optional<std::vector<std::pair<int, int>>> transitions;
  problem::Span span = problem::Span::kAny;  // of every buffer placed here
  // as in problem::Memory
  std::map<std::string, problem::BankSets, std::less<>> bank_sets = {};
};

inline constexpr auto kMemoryFields = std::to_array<Field<Memory>>({
    {"capacity_bytes",
     &Memory::capacity_bytes,
     {1, static_cast<double>(base::kMaxTotal)},
     Presence::kRequired},
    {"alignment_bytes", &Memory::alignment_bytes, kCounts},
    {"writable", &Memory::writable},
    {"direct_read", &Memory::direct_read},
    {"direct_write", &Memory::direct_write},
    {"port"},
    {"read_pj_per_byte", &Memory::read_pj_per_byte, kAmounts},
    {"write_pj_per_byte", &Memory::write_pj_per_byte, kAmounts},
    {"leakage_mw", &Memory::leakage_mw, kAmounts},
    {"area_mm2", &Memory::area_mm2, kAmounts, Presence::kOptional},
    {"reserved"},
    {"banks"},
    {"bank_ports"},
    {"modes"},
    {"transitions"},
    {"span"},
});

// A DMA path between two memories, in both directions.
struct Link {
  std::string name;  // also the engine of its accesses, as in a mode's "dma.write"
  int first = 0;     // indices into Profile::memories
  int second = 0;
  int64_t setup_cycles = 0;
  int64_t alignment_bytes = 1;
  int dims = 3;  // loop levels that one descriptor covers; a transfer that needs more is split
  int outstanding = 1;  // concurrent transfers
  std::optional<double> area_mm2 = {};
  // slices of one operand follow one another without a pause: only the first waits for the latency
  bool pipelined = false;
};

inline constexpr auto kLinkFields = std::to_array<Field<Link>>({
    {"between"},
    {"setup_cycles", &Link::setup_cycles, kCycles},
    {"alignment_bytes", &Link::alignment_bytes, kCounts},
    {"dims", &Link::dims, {1, 16}},
    {"outstanding", &Link::outstanding, kCounts},
    {"area_mm2", &Link::area_mm2, kAmounts, Presence::kOptional},
    {"pipelined", &Link::pipelined, {}, Presence::kOptional},
});

inline constexpr FieldRange kStoredRatios = {1.0 / 1024, 16};

// The storage of tensors of one role.
struct RoleLayout {
  int home = 0;                 // index into Profile::memories
  int64_t alignment_bytes = 1;  // of every buffer of this role
  int64_t channel_block = 1;    // channels are padded to a multiple of this (NHWCB16: 16)
  int64_t row_pitch_bytes = 1;  // each row of (columns * channels) is padded to a multiple of this
  // If the profile lists several homes, those after the first. Each is for the tensors that do not
  // fit into any memory before it (docs/program.md, "Several homes"). Only state may have the tile
  // memory in such a list, as the first home.
  std::vector<int> next_homes = {};
  // the most bytes that a transfer or an engine requests from the home at a time; each request is a
  // burst; 0: whole runs
  int64_t request_bytes = 0;
  bool tiles_only = false;  // engines access no home, even where the memory permits it
  // constants alone: bytes as stored per byte of their elements, where the network states no bytes
  std::optional<double> stored_ratio = {};
};

inline constexpr auto kRoleFields = std::to_array<Field<RoleLayout>>({
    {"home"},
    {"alignment_bytes", &RoleLayout::alignment_bytes, kCounts},
    {"channel_block", &RoleLayout::channel_block, kCounts},
    {"row_pitch_bytes", &RoleLayout::row_pitch_bytes, kCounts},
    {"request_bytes", &RoleLayout::request_bytes, kCountsOrZero, Presence::kOptional},
    {"tiles_only", &RoleLayout::tiles_only, {}, Presence::kOptional},
    {"stored_ratio", &RoleLayout::stored_ratio, kStoredRatios, Presence::kOptional},
});

enum class HaloStorage : uint8_t { kRecompute, kRollingBuffer, kLineBuffer, kAdjacent };
enum class DmaSteps : uint8_t { kSerialized, kDoubleBuffered };
enum class WeightPolicy : uint8_t { kResident, kStreamed, kDirect, kSplitK };

struct AxisGranularity {
  base::Axis axis = base::Axis::kRows;
  int64_t granularity = 1;  // tiles are multiples of this, except the last
  bool later = false;       // the search cuts the other axes first
};

struct Tiling {
  // along which tiles may be cut, in the order in which cuts are tried
  std::vector<AxisGranularity> axes;
  std::vector<HaloStorage> halo;      // supported by the hardware; recomputing is always possible
  std::vector<WeightPolicy> weights;  // tried in this order
  DmaSteps dma = DmaSteps::kSerialized;
  // with kDoubleBuffered: a subgraph may be serialized instead
  bool may_serialize = false;
  // with kDoubleBuffered: operators of two stages of a subgraph may run at the same time, on
  // different tiles
  bool concurrent = false;
  bool implicit_padding = true;  // false: pad rows and columns are stored with the tile
  // kinds whose output may take the place of a dying input; depthwise: channel by channel
  std::vector<base::OperatorKind> in_place;
  int64_t weight_granularity_channels = 1;  // output channels in one slice of streamed weights
  int64_t k_granularity = 16;               // the K extent of one slice is a multiple of this
};

inline constexpr auto kTilingFields = std::to_array<Field<Tiling>>({
    {"axes"},
    {"halo"},
    {"weights"},
    {"dma"},
    {"concurrent", &Tiling::concurrent, {}, Presence::kOptional},
    {"implicit_padding", &Tiling::implicit_padding},
    {"in_place"},
    {"weight_granularity_channels", &Tiling::weight_granularity_channels, kCounts},
    {"k_granularity", &Tiling::k_granularity, kCounts},
});

// One factor of a scratch size.
enum class ScratchFactor : uint8_t {
  kKernelRows,
  kKernelColumns,
  kInChannels,
  kOutChannels,
  kOutColumns,
  kOutRows,
  kOutBatch
};

// Temporary bytes of one operator kind: bytes * product of factors, at the largest tile.
struct Scratch {
  base::OperatorKind kind = base::OperatorKind::kConv;
  int64_t bytes = 0;
  std::vector<ScratchFactor> factors;
};

inline constexpr auto kScratchFields = std::to_array<Field<Scratch>>({
    {"bytes", &Scratch::bytes, {1, kMostBytes}, Presence::kRequired},
    {"factors"},
});

// How far cycles on the profile are from those of a measurement or another estimator, as shares:
// 0.05 means 5 % more or less.
struct KnownError {
  std::string source;
  double median = 0;
  double nine_of_ten = 0;  // of the compared figures are at most this far off
};

inline constexpr auto kKnownErrorFields = std::to_array<Field<KnownError>>({
    {"source"},
    {"median", &KnownError::median, kAmounts, Presence::kRequired},
    {"nine_of_ten", &KnownError::nine_of_ten, kAmounts, Presence::kRequired},
});

struct Profile {
  std::string name;
  std::string description;
  std::optional<KnownError> known_error = {};
  double clock_hz = 0;
  std::vector<Memory> memories;
  int tile_memory = 0;  // index: the memory of tiles
  std::vector<Engine> engines;
  std::vector<Link> links;
  std::vector<RoleLayout> roles;  // indexed by base::TensorRole
  Tiling tiling;
  std::vector<Scratch> scratch;
  std::vector<Rule> rules;
  // bias and scale, stored with the weights of operators that have weights
  int64_t table_bytes_per_channel = 0;
};

inline constexpr auto kProfileFields = std::to_array<Field<Profile>>({
    {"schema"},
    {"name"},
    {"description"},
    {"extends"},
    {"known_error"},
    {"clock_hz", &Profile::clock_hz, {1, 1e18}, Presence::kRequired},
    {"memories"},
    {"tile_memory"},
    {"engines"},
    {"links"},
    {"roles"},
    {"tiling"},
    {"scratch"},
    {"rules"},
    {"table_bytes_per_channel", &Profile::table_bytes_per_channel, kCountsOrZero},
    {"ops"},
});

// A key of memories, engines and links. Plans and reports state the sum of its values over the
// profile.
struct ProfileTotal {
  std::string_view key;
  std::string_view title;
  std::string_view unit;
};

inline constexpr auto kProfileTotals = std::to_array<ProfileTotal>({
    {.key = "area_mm2", .title = "area", .unit = "mm2"},
});

// The sums that are not 0, by key.
std::map<std::string, double> TotalsOf(const Profile& profile);

// Returns the profile without the axes marked `later`; nullopt if there are none.
std::optional<Profile> WithoutLaterAxes(const Profile& profile);

const RoleLayout& LayoutOf(const Profile& profile, base::TensorRole role);

// Returns the memory at that position of the role's list of homes, as an index into
// Profile::memories; for a position past the end, the last memory of the list.
int HomeAt(const RoleLayout& layout, int place);

// Whether the memory is a home of the role.
bool IsHomeOf(const RoleLayout& layout, int memory);

// Whether engines may read tensors of the role, or write them, in this memory.
bool MayReadAt(const Profile& profile, base::TensorRole role, int memory);
bool MayWriteAt(const Profile& profile, base::TensorRole role, int memory);

// Whether engines may read tensors of the role, or write them, in some home other than the tile
// memory.
bool MayReadAtHome(const Profile& profile, base::TensorRole role);
bool MayWriteAtHome(const Profile& profile, base::TensorRole role);

// The number of engines, without the host, that may work at the same time: more than one only with
// `concurrent` and double-buffered transfers.
int64_t EnginesAtOnce(const Profile& profile);

// Whether some role has several homes.
bool HasSeveralHomes(const Profile& profile);

// Returns the first engine with a throughput for `kind` on data of `type`, otherwise the host; only
// engines with the name `named` if that is not empty. nullptr if there is none.
const Engine* EngineFor(const Profile& profile, base::OperatorKind kind, base::DataType type,
                        std::string_view named = {});
// Returns the engine's entry for the kind and this type, otherwise its general entry for the kind,
// otherwise, for a kind that only moves data, its entry for a reshape; nullptr if there is none.
const Throughput* ThroughputFor(const Engine& engine, base::OperatorKind kind, base::DataType type);
// Returns the host, or nullptr.
const Engine* HostOf(const Profile& profile);

// The link between two memories, or nullptr.
const Link* LinkBetween(const Profile& profile, int first, int second);

// The properties of a memory that a placement needs.
problem::Memory AsProblemMemory(const Memory& memory);

std::string_view NameOf(HaloStorage storage);   // "rolling_buffer"
std::string_view NameOf(DmaSteps steps);        // "serialized"
std::string_view NameOf(WeightPolicy policy);   // "resident"
std::string_view NameOf(ScratchFactor factor);  // "kernel_rows"

// The names of all values in the order of the enumeration.
std::span<const std::string_view> HaloStorageNames();
std::span<const std::string_view> DmaStepsNames();
std::span<const std::string_view> WeightPolicyNames();
std::span<const std::string_view> ScratchFactorNames();

}  // namespace tessera::hw_profiles
