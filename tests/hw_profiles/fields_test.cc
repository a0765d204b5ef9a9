// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <type_traits>

#include "engines.h"
#include "fixture.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/hw_profiles/profile_yaml.h"

// The tables of profile.h against the page on the format, and against the reader and the writer.
namespace tessera::hw_profiles {
namespace {

// The second cell of each row of the page, by section and key.
class Page {
 public:
  Page() {
    std::istringstream lines(ReadSource("docs/profile-format.md"));
    std::string section;
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("## ")) section = line.substr(3);
      if (!line.starts_with("| `")) continue;
      const size_t keys_end = line.find(" |", 2);
      const std::string cell =
          line.substr(keys_end + 3, line.find(" |", keys_end + 2) - keys_end - 3);
      std::string key;
      bool in_key = false;
      for (const char c : line.substr(2, keys_end - 2)) {
        if (c != '`') {
          if (in_key) key += c;
          continue;
        }
        if (in_key) defaults_[{section, key}] = cell;
        key.clear();
        in_key = !in_key;
      }
    }
  }

  // "" if the section has no such key.
  std::string DefaultOf(const std::string& section, const std::string& key) const {
    const auto found = defaults_.find({section, key});
    return found == defaults_.end() ? "" : found->second;
  }

 private:
  std::map<std::pair<std::string, std::string>, std::string> defaults_;
};

std::string TextOf(bool value) { return value ? "`true`" : "`false`"; }
std::string TextOf(const std::optional<double>& value) {
  return value ? std::to_string(*value) : "none";
}
template <typename Number>
std::string TextOf(Number value) {
  EXPECT_EQ(value, static_cast<Number>(static_cast<int64_t>(value)));
  return std::to_string(static_cast<int64_t>(value));
}

template <typename Section>
bool HasMember(const Field<Section>& field) {
  return !std::holds_alternative<std::monostate>(field.member);
}

template <typename Section, size_t count>
void ExpectStated(const Page& page, const std::string& section,
                  const std::array<Field<Section>, count>& fields, const std::string& before = "") {
  for (const Field<Section>& field : fields) {
    if (field.key == "port") continue;  // the page states its keys, as port.shared
    const std::string key = before + std::string(field.key);
    SCOPED_TRACE(section + ": " + key);
    const std::string stated = page.DefaultOf(section, key);
    EXPECT_NE(stated, "");
    EXPECT_EQ(field.presence == Presence::kRequired, stated == "required" && HasMember(field));
    if (stated == "required" || stated == "`bytes_per_cycle`") continue;
    static const Section kDefaults;
    VisitValue(field, kDefaults, [&](const auto& value) {
      EXPECT_NE((" " + stated).find(" " + TextOf(value)), std::string::npos) << stated;
    });
  }
}

TEST(ProfileFields, ThePageStatesEachWithItsDefault) {
  const Page page;
  ExpectStated(page, "Top level", kProfileFields);
  ExpectStated(page, "`memories.<name>`", kMemoryFields);
  ExpectStated(page, "`memories.<name>`", kPortFields, "port.");
  ExpectStated(page, "`engines.<name>`", kEngineFields);
  ExpectStated(page, "`engines.<name>`", kThroughputFields);
  ExpectStated(page, "`engines.<name>.blocks`", kOutputBlocksFields);
  ExpectStated(page, "`engines.<name>.host`", kHostFields);
  ExpectStated(page, "`links.<name>`", kLinkFields);
  ExpectStated(page, "`roles.<role>`", kRoleFields);
  ExpectStated(page, "`tiling`", kTilingFields);
  ExpectStated(page, "`scratch.<operator kind>`", kScratchFields);
}

// Changes one field after another of a section of a profile, and reads back what is written.
// `section_of` finds the section in a profile.
template <typename Fields, typename SectionOf>
void ExpectReadBack(const Fields& fields, SectionOf section_of, const std::string& text = kSmall) {
  for (const auto& field : fields) {
    SCOPED_TRACE(std::string(field.key));
    Profile profile = Read(text);
    profile.scratch = {{base::OperatorKind::kConv, 2, {}}};
    profile.engines.push_back(Host("host"));
    const std::string before = WriteProfileJson(profile);
    bool is_number = false;
    VisitValue(field, section_of(profile), [&](auto& value) {
      using Value = std::remove_reference_t<decltype(value)>;
      is_number = true;
      if constexpr (std::is_same_v<Value, bool>) {
        value = !value;
      } else if constexpr (std::is_same_v<Value, std::optional<double>>) {
        value = field.range.least;
      } else {
        value += Value{1};
      }
    });
    if (!is_number || field.key == "writable" || field.key == "direct_write") continue;
    const std::string after = WriteProfileJson(profile);
    EXPECT_NE(after, before);
    EXPECT_NE(after.find('"' + std::string(field.key) + '"'), std::string::npos);
    EXPECT_EQ(WriteProfileJson(Read(after)), after);
  }
}

TEST(ProfileFields, EachIsWrittenAndReadBack) {
  ExpectReadBack(kProfileFields, [](Profile& profile) -> Profile& { return profile; });
  ExpectReadBack(kMemoryFields, [](Profile& profile) -> Memory& { return profile.memories[1]; });
  ExpectReadBack(kPortFields, [](Profile& profile) -> Port& { return profile.memories[1].port; });
  ExpectReadBack(kEngineFields, [](Profile& profile) -> Engine& { return profile.engines[0]; });
  const auto first_throughput = [](Profile& profile) -> Throughput& {
    return profile.engines[0].throughputs[0];
  };
  ExpectReadBack(ThroughputFieldsOf(base::OperatorKind::kConv), first_throughput);
  ExpectReadBack(ThroughputFieldsOf(base::OperatorKind::kDepthwise), first_throughput,
                 SmallWith("conv:", "depthwise:"));
  ExpectReadBack(kOutputBlocksFields, [](Profile& profile) -> OutputBlocks& {
    Engine& engine = profile.engines[0];
    if (!engine.blocks) engine.blocks = {2, 2, 4, 1, 4, 1, 64, 1, 1, 4};
    return *engine.blocks;
  });
  ExpectReadBack(kHostFields,
                 [](Profile& profile) -> HostSpeed& { return *profile.engines[1].host; });
  ExpectReadBack(kUnrollFields, [](Profile& profile) -> Unroll& {
    return profile.engines[0].throughputs[0].unroll;
  });
  ExpectReadBack(kLinkFields, [](Profile& profile) -> Link& { return profile.links[0]; });
  ExpectReadBack(kRoleFields, [](Profile& profile) -> RoleLayout& {
    return profile.roles[static_cast<size_t>(base::TensorRole::kConstant)];
  });
  ExpectReadBack(kTilingFields, [](Profile& profile) -> Tiling& { return profile.tiling; });
  ExpectReadBack(kScratchFields, [](Profile& profile) -> Scratch& { return profile.scratch[0]; });
}

}  // namespace
}  // namespace tessera::hw_profiles
