// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/hw_profiles/profile_yaml.h"

namespace tessera::hw_profiles {

// The text of a file of the project.
inline std::string ReadSource(const std::string& path) {
  const std::ifstream stream(std::string(TESSERA_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(stream.good()) << path;
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

// Reads files of the project.
inline base::Expected<std::string> LoadSource(std::string_view name) {
  return ReadSource(std::string(name));
}

// A valid profile, or a failed test.
inline Profile Read(const std::string& text, const std::string& file = "a.yaml",
                    const Loader& loader = nullptr) {
  base::Expected<Profile> profile = ReadProfile(text, file, loader);
  if (!profile) {
    ADD_FAILURE() << base::Format(profile.error());
    return {};
  }
  return *profile;
}

// The complaint about a profile; a failed test when there is none.
inline base::Diagnostic FaultOf(const std::string& text, const Loader& loader = nullptr) {
  const base::Expected<Profile> profile = ReadProfile(text, "a.yaml", loader);
  EXPECT_FALSE(profile.has_value()) << text;
  return profile ? base::Diagnostic{} : profile.error();
}

// A small valid profile: SRAM and DRAM, one engine, one link. The tests of faults depend on its
// line numbers.
inline constexpr const char* kSmall = R"(schema: 1
name: small
clock_hz: 1e9
memories:
  sram:
    capacity_bytes: 64Ki
    banks: 2
    modes:
      even: [r, w]
      odd: [w, r]
  dram:
    capacity_bytes: 1Mi
tile_memory: sram
engines:
  pe:
    operators:
      conv: {cycles_per_step: 2}
      pool: {cycles_per_output: 1}
links:
  dma:
    between: [dram, sram]
roles:
  boundary: {home: dram}
  constant: {home: dram}
tiling:
  axes: [rows]
  weights: [resident, streamed]
)";

// kSmall with its one occurrence of `from` replaced.
inline std::string SmallWith(const std::string& from, const std::string& to) {
  std::string text = kSmall;
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  EXPECT_EQ(text.find(from, at + 1), std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

// Where a complaint points, and its text.
struct Complaint {
  int line;
  int column;
  std::string message;
  std::string expected;
  std::string found;
  std::string hint;
};

// Expects the complaint about the small profile with one change.
inline void ExpectComplaint(const std::string& from, const std::string& to,
                            const Complaint& complaint) {
  SCOPED_TRACE(to);
  const base::Diagnostic fault = FaultOf(SmallWith(from, to));
  EXPECT_EQ(fault.file, "a.yaml");
  EXPECT_EQ(fault.line, complaint.line);
  EXPECT_EQ(fault.column, complaint.column);
  EXPECT_EQ(fault.message, complaint.message);
  EXPECT_EQ(fault.expected, complaint.expected);
  EXPECT_EQ(fault.found, complaint.found);
  EXPECT_EQ(fault.hint, complaint.hint);
}

}  // namespace tessera::hw_profiles
