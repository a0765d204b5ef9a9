// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/spec.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <new>
#include <set>
#include <utility>

#include "tessera/api/errors.h"
#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_reader.h"
#include "tessera/explore/spec_sections.h"
#include "tessera/explore/tables.h"
#include "tessera/explore/vocabulary.h"
#include "tessera/graph/import/formats.h"

namespace tessera::explore {
namespace {

namespace fs = std::filesystem;
using base::YamlNode;

constexpr double kLeastWeight = 1e-9;
constexpr double kMostWeight = 1e9;
constexpr double kMostLimit = 1e18;
constexpr int64_t kMostBudget = int64_t{1} << 40;

// Ratios fall while a plan takes longer, so their numerator and denominator are minimised instead.
// With a limit on the latency, the ratios themselves are minimised too.
struct Parts {
  std::string_view metric;
  std::array<std::string_view, 2> minimized;
};
constexpr std::array<Parts, 2> kRatios = {
    {{"power", {"energy", "latency"}}, {"bandwidth_average", {"off_chip_bytes", "latency"}}}};

class SpecReader {
 public:
  SpecReader(const YamlNode& root, const std::string& file)
      : root_(root), folder_(base::FolderOf(file)) {
    spec_.file = file;
  }

  base::Expected<Spec> Read(const base::YamlReader& reader) {
    root_.OnlyKeys({"schema", "networks", "profile", "profiles", "columns", "vary", "where",
                    "minimize", "score", "area", "fronts", "options"});
    root_.At("schema").Integer(1, 1);
    std::vector<BaseProfile> bases = ReadBases();
    if (fault_) return base::Unexpected(*fault_);
    ReadNetworks();
    ReadColumns();
    if (fault_) return base::Unexpected(*fault_);
    std::vector<Axis> axes;
    if (const YamlNode vary = root_.Maybe("vary")) axes = ReadAxes(vary, bases, vocabulary_);
    std::vector<Expression> where;
    if (const YamlNode conditions = root_.Maybe("where")) where = ReadConditions(conditions);
    spec_.space = Space(std::move(bases), std::move(axes), std::move(where));
    ReadObjectives();
    if (const YamlNode area = root_.Maybe("area")) {
      AreaReader reader(spec_.space.Bases(), spec_.space.Axes(), vocabulary_, folder_);
      spec_.area = reader.Read(area);
      if (reader.Fault() && !fault_) fault_ = reader.Fault();
      spec_.files.insert(spec_.files.end(), reader.Files().begin(), reader.Files().end());
    }
    static constexpr std::array<std::string_view, 3> kFronts = {"both", "networks", "set"};
    const YamlNode fronts = root_.Maybe("fronts");
    const size_t wanted = fronts ? fronts.OneOf(kFronts) : 0;
    // The front of a set of one network is that of the network.
    spec_.wants_set_front = wanted != 1 && spec_.networks.size() > 1;
    spec_.wants_network_fronts = wanted != 2 || !spec_.wants_set_front;
    if (const YamlNode options = root_.Maybe("options")) ReadSettings(options);
    if (fault_) return base::Unexpected(*fault_);
    if (reader.Failed()) return Spec();
    area_asked_.found.clear();
    spec_.area.SetPlace(area_asked_);
    return std::move(spec_);
  }

 private:
  std::string Resolve(const std::string& name) const {
    const fs::path path(name);
    return path.is_absolute() ? name : (folder_ / path).lexically_normal().string();
  }

  std::vector<std::string_view> MetricViews() const {
    return {vocabulary_.Metrics().begin(), vocabulary_.Metrics().end()};
  }

  std::vector<BaseProfile> ReadBases() {
    std::vector<YamlNode> files;
    if (const YamlNode list = root_.Maybe("profiles")) {
      files = list.Items();
      if (root_.Maybe("profile")) list.ComplainOfKey("'profile' and 'profiles' are both given");
    } else {
      files.push_back(root_.At("profile"));
    }
    if (files.empty()) root_.At("profiles").Complain("there is no profile", "at least one");
    std::vector<BaseProfile> bases;
    for (const YamlNode& node : files) {
      const std::string file = Resolve(node.Text());
      const Result<Profile> profile = Profile::Load(file);
      if (!profile) {
        RefuseFile(node, file, profile.Error());
        continue;
      }
      bases.push_back({file, profile->Name(), ShortForm(Json::parse(profile->Json()))});
      vocabulary_.AddProfile(bases.back().document);
    }
    return bases;
  }

  // A file that cannot be opened is an error of the specification; any other error is one of the
  // file.
  void RefuseFile(const YamlNode& node, const std::string& file, const Error& error) {
    api::ThrowIfExhausted(error);
    if (error.line == 0) {
      node.Complain("'" + file + "' cannot be read: " + error.message, error.expected);
    } else if (!fault_) {
      fault_ = api::AsDiagnostic(error);
    }
  }

  void ReadNetworks() {
    std::set<std::string> names;
    for (const YamlNode& node : root_.At("networks").Items()) {
      NetworkEntry& entry = spec_.networks.emplace_back();
      if (node.IsScalar()) {
        entry.file = Resolve(node.Text());
      } else {
        ReadNetwork(node, entry);
      }
      if (entry.name.empty()) entry.name = fs::path(entry.file).stem().string();
      if (const YamlNode choices = node.IsMap() ? node.Maybe("choices") : YamlNode()) {
        NetworkEntry pattern = std::move(entry);
        spec_.networks.pop_back();
        const size_t before = spec_.networks.size();
        AddChoices(node, choices, std::move(pattern));
        for (size_t i = before; i < spec_.networks.size(); ++i)
          Claim(node, spec_.networks[i].name, names);
        continue;
      }
      Claim(node, entry.name, names);
      spec_.files.push_back(entry.file);
      const base::Expected<std::string> content = base::ReadInput(entry.file);
      if (!content) {
        node.Complain("'" + entry.file + "' cannot be read: " + content.error().message);
        continue;
      }
      entry.digest = DigestOf(*content);
      CheckImport(node, entry, *content);
    }
    if (spec_.networks.empty())
      root_.At("networks").Complain("there is no network", "at least one");
  }

  static void Claim(const YamlNode& node, const std::string& name, std::set<std::string>& names) {
    if (!names.insert(name).second)
      node.Complain("there are two networks '" + name + "'", "a 'name' for one of them");
  }

  // `dims` and `floats_as` apply only to files of other tools.
  static void CheckImport(const YamlNode& node, const NetworkEntry& entry,
                          const std::string& content) {
    const auto* format = graph::import::FormatOf(base::SuffixOf(entry.file), content);
    if (const YamlNode floats = node.IsMap() ? node.Maybe("floats_as") : YamlNode();
        floats && IsSpace(entry))
      floats.ComplainOfKey("'floats_as' has no effect on a space of networks", "no such key");
    if (format == nullptr || format->takes_options || !node.IsMap()) return;
    for (const std::string_view key : {"dims", "choices", "floats_as"}) {
      if (const YamlNode option = node.Maybe(key))
        option.ComplainOfKey(
            "'" + std::string(key) + "' has no effect on a network in " + std::string(format->name),
            "no such key, or a file of another tool");
    }
  }

  void AddChoices(const YamlNode& node, const YamlNode& choices, NetworkEntry pattern) {
    spec_.files.push_back(pattern.file);
    const base::Expected<std::string> content = base::ReadInput(pattern.file);
    if (!content)
      return node.Complain("'" + pattern.file + "' cannot be read: " + content.error().message);
    CheckImport(node, pattern, *content);
    pattern.digest = DigestOf(*content);
    base::Expected<NetworkChoices> made = ReadChoices(choices, pattern, *content);
    if (!made) {
      if (!fault_) fault_ = made.error();
      return;
    }
    std::move(made->networks.begin(), made->networks.end(), std::back_inserter(spec_.networks));
    std::move(made->refused.begin(), made->refused.end(),
              std::back_inserter(spec_.refused_networks));
  }

  void ReadNetwork(const YamlNode& node, NetworkEntry& entry) {
    node.OnlyKeys({"file", "name", "weight", "limit", "dims", "choices", "floats_as"});
    entry.file = Resolve(node.At("file").Text());
    if (const YamlNode name = node.Maybe("name")) entry.name = name.Text();
    if (const YamlNode weight = node.Maybe("weight"))
      entry.weight = weight.Number(kLeastWeight, kMostWeight);
    if (const YamlNode limits = node.Maybe("limit")) {
      const std::vector<std::string_view> names = MetricViews();
      for (const auto& [metric, most] : limits.Entries()) {
        most.KeyOneOf(names);
        entry.limits.emplace_back(metric, most.Number(0, kMostLimit));
      }
    }
    if (const YamlNode dims = node.Maybe("dims")) {
      for (const auto& [name, extent] : dims.Entries())
        entry.import.dims.emplace_back(name, extent.Integer(1, int64_t{1} << 40));
    }
    if (const YamlNode floats = node.Maybe("floats_as")) entry.import.floats_as = floats.Text();
  }

  // Reads a table with the header `network,NAME,..`.
  void ReadColumns() {
    const YamlNode node = root_.Maybe("columns");
    if (!node) return;
    const std::string file = Resolve(node.Text());
    spec_.files.push_back(file);
    const base::Expected<std::string> text = base::ReadInput(file);
    if (!text) return node.Complain("'" + file + "' cannot be read: " + text.error().message);
    const base::Expected<FigureTable> table = ReadTable(*text, file, "network");
    if (!table) {
      if (!fault_) fault_ = table.error();
      return;
    }
    for (size_t i = 1; i < table->header.size(); ++i)
      vocabulary_.AddName(node, table->header[i], "column");
    std::set<std::string> named;
    for (const TableRow& row : table->rows) {
      if (!named.insert(row.cells.front()).second)
        return node.Complain("'" + file + "' has two rows for '" + row.cells.front() + "'",
                             "one row for each network");
      for (NetworkEntry& network : spec_.networks) {
        if (network.name != row.cells.front()) continue;
        for (size_t i = 1; i < row.cells.size(); ++i) {
          const base::Expected<double> value = NumberIn(*table, row, i);
          if (!value) {
            if (!fault_) fault_ = value.error();
            return;
          }
          network.columns[table->header[i]] = *value;
        }
      }
    }
    for (const NetworkEntry& network : spec_.networks) {
      if (network.columns.empty() && table->header.size() > 1)
        return node.Complain("'" + file + "' has no row for the network '" + network.name + "'");
    }
  }

  std::vector<Expression> ReadConditions(const YamlNode& node) const {
    std::vector<Expression> conditions;
    const std::vector<YamlNode> items = node.IsList() ? node.Items() : std::vector{node};
    for (const YamlNode& item : items) {
      conditions.push_back(ReadExpression(item));
      vocabulary_.Check(item, conditions.back(), Vocabulary::Among::kSpace);
    }
    return conditions;
  }

  void ReadObjectives() {
    std::vector<YamlNode> nodes;
    if (const YamlNode score = root_.Maybe("score")) {
      nodes.push_back(score);
      if (const YamlNode list = root_.Maybe("minimize"))
        list.ComplainOfKey("'minimize' and 'score' are both given");
    } else {
      nodes = root_.At("minimize").Items();
      if (nodes.empty()) root_.At("minimize").Complain("there is no objective", "at least one");
    }
    if (spec_.networks.empty()) return;
    std::set<std::string> metrics;
    for (const YamlNode& node : nodes) {
      const Expression expression = ReadExpression(node);
      vocabulary_.Check(node, expression, Vocabulary::Among::kObjective);
      for (const std::string& name : expression.NamesUsed()) {
        if (name == "area" && !spec_.needs_area) {
          const YamlNode area = root_.Maybe("area");
          area_asked_ = (area ? area : node).Located("");
          spec_.needs_area = true;
        }
        if (vocabulary_.IsMetric(name)) metrics.insert(name);
      }
      spec_.objectives.push_back({expression.Text(), expression});
    }
    for (const Parts& ratio : kRatios) {
      const std::string metric(ratio.metric);
      if (!metrics.contains(metric)) continue;
      metrics.insert(ratio.minimized.begin(), ratio.minimized.end());
      if (!LimitsEveryLatency()) metrics.erase(metric);
    }
    if (metrics.empty() && !nodes.empty())
      nodes.front().Complain("no objective depends on a plan",
                             "one of " + base::Join(MetricViews()));
    // In the order of the library, which does not depend on the specification.
    for (const std::string& name : vocabulary_.Metrics()) {
      if (metrics.contains(name)) spec_.metrics.push_back(name);
    }
  }

  bool LimitsEveryLatency() const {
    return std::all_of(spec_.networks.begin(), spec_.networks.end(), [](const auto& network) {
      return std::any_of(network.limits.begin(), network.limits.end(),
                         [](const MetricValue& limit) { return limit.first == "latency"; });
    });
  }

  void ReadSettings(const YamlNode& node) {
    node.OnlyKeys({"budget", "seed", "max_operators", "order", "keep"});
    Settings& settings = spec_.settings;
    if (const YamlNode budget = node.Maybe("budget"))
      settings.budget = budget.Integer(1, kMostBudget);
    if (const YamlNode seed = node.Maybe("seed"))
      settings.seed = static_cast<uint64_t>(seed.Integer(0, kMostBudget));
    if (const YamlNode most = node.Maybe("max_operators"))
      settings.max_operators = static_cast<int>(most.Integer(1, 1000));
    static constexpr std::array<std::string_view, 2> kOrders = {"search", "given"};
    if (const YamlNode order = node.Maybe("order")) settings.keep_order = order.OneOf(kOrders) == 1;
    if (const YamlNode keep = node.Maybe("keep")) settings.keep_boundaries = keep.Boolean();
  }

  YamlNode root_;
  fs::path folder_;
  Spec spec_;
  Vocabulary vocabulary_;
  base::Diagnostic area_asked_;            // where an objective names the area, or its rules begin
  std::optional<base::Diagnostic> fault_;  // of another file
};

}  // namespace

base::Expected<Spec> ReadSpec(std::string text, const std::string& file) {
  const base::Expected<base::YamlFile> yaml = base::YamlFile::Parse(std::move(text), file);
  if (!yaml) return base::Unexpected(yaml.error());
  base::YamlReader reader(*yaml);
  base::Expected<Spec> spec = SpecReader(reader.Root(), file).Read(reader);
  if (reader.Failed()) return base::Unexpected(reader.TakeFault());
  return spec;
}

std::string DigestOf(std::string_view text) {
  __extension__ using Word = unsigned __int128;
  constexpr Word kPrime = (Word{1} << 88) + 0x13b;
  Word hash = (Word{0x6c62272e07bb0142} << 64) + 0x62b821756295c58d;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * kPrime;
  std::string digits;
  for (int shift = 124; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[static_cast<int>(hash >> shift) & 15];
  return digits;
}

}  // namespace tessera::explore
