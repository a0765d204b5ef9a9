#include "tessera/plan/draft.h"

#include <fmt/core.h>

#include <initializer_list>

#include "tessera/base/checked.h"
#include "tessera/base/json_reader.h"
#include "tessera/plan/json_partition.h"

namespace tessera::plan {
namespace {

using base::JsonObject;
using base::JsonReader;
using base::JsonValue;
using base::Presence;

constexpr base::IntegerRange kPinned = {0, base::kMaxTotal / 2};

// Keys of a whole plan that follow from the rest.
void PassBy(JsonObject& object, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) object.Optional(key);
}

class DraftReader {
 public:
  explicit DraftReader(JsonReader& reader) : reader_(reader) {}

  Draft Run() {
    JsonObject root = reader_.Root().Object();
    root.Format("tessera-plan", 1);
    draft_.network = ReadEmbeddedNetwork(root.Required("network"));
    draft_.profile = ReadEmbeddedProfile(root.Required("profile"));
    if (const JsonValue objective = root.Optional("objective")) draft_.objective = ReadObjective(objective);
    if (const JsonValue seed = root.Optional("seed")) draft_.seed = ReadSeed(seed);
    PassBy(root, {"made_by", "digest", "name",          "run",     "demands",  "status",       "score",
                  "bound",   "scope",  "proven_within", "time_ms", "totals",   "lower_bounds", "baseline",
                  "notes",   "loops",  "relations",     "rules",   "lowering", "tensor_homes"});
    if (reader_.Failed()) return std::move(draft_);  // what follows speaks of the network
    draft_.kept = ReadKept(root.Items("kept", Presence::kOptional), draft_.network);
    ReadBuffers(root.Items("buffers", Presence::kOptional), "/buffers");
    const std::vector<JsonValue> subgraphs = root.Items("subgraphs");
    for (size_t i = 0; i < subgraphs.size(); ++i) ReadSubgraph(subgraphs[i], fmt::format("/subgraphs/{}", i));
    const std::vector<JsonValue> homes = root.Items("homes", Presence::kOptional);
    for (size_t i = 0; i < homes.size(); ++i) ReadHome(homes[i], fmt::format("/homes/{}", i));
    return std::move(draft_);
  }

 private:
  void ReadSubgraph(const JsonValue& value, const std::string& pointer) {
    JsonObject object = value.Object();
    draft_.subgraphs.push_back(ReadCut(object, draft_.network));
    PassBy(object, {"tiles", "largest_proven", "metrics", "rejected", "first_step", "steps"});
    ReadBuffers(object.Items("buffers", Presence::kOptional), pointer + "/buffers");
  }

  void ReadBuffers(const std::vector<JsonValue>& values, const std::string& pointer) {
    for (size_t i = 0; i < values.size(); ++i) {
      JsonObject object = values[i].Object();
      const std::string id = object.String("id");
      PassBy(object,
             {"name", "role", "kind", "tensor", "operator", "parity", "slot", "memory", "size", "alignment",
              "span", "banks", "allowed_banks", "fixed", "hint", "lifespans", "accesses", "annotations"});
      AddPin(object, id, "", fmt::format("{}/{}", pointer, i));
    }
  }

  void ReadHome(const JsonValue& value, const std::string& pointer) {
    JsonObject object = value.Object();
    const std::string memory = object.String("memory");
    PassBy(object, {"peak"});
    const std::vector<JsonValue> tensors = object.Items("tensors");
    for (size_t i = 0; i < tensors.size(); ++i) {
      JsonObject tensor = tensors[i].Object();
      const std::string id = tensor.String("tensor");
      PassBy(tensor, {"role", "size", "alignment", "subgraphs"});
      AddPin(tensor, id, memory, fmt::format("{}/tensors/{}", pointer, i));
    }
  }

  void AddPin(JsonObject& object, const std::string& id, const std::string& memory,
              const std::string& pointer) {
    if (const JsonValue offset = object.Optional("offset"))
      draft_.pins.push_back({id, offset.Integer(kPinned), memory, pointer});
  }

  JsonReader& reader_;
  Draft draft_;
};

}  // namespace

base::Expected<Draft> ReadDraft(std::string_view text, std::string file) {
  JsonReader reader(text, std::move(file));
  Draft draft = DraftReader(reader).Run();
  return reader.Finish(std::move(draft));
}

}  // namespace tessera::plan
