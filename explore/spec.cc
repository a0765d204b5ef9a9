#include "tessera/explore/spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <set>
#include <utility>

#include "tessera/base/files.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_reader.h"

namespace tessera::explore {
namespace {

namespace fs = std::filesystem;
using base::YamlNode;

constexpr double kLeastWeight = 1e-9;
constexpr double kMostWeight = 1e9;
constexpr double kMostLimit = 1e18;
constexpr int64_t kMostBudget = int64_t{1} << 40;
constexpr int64_t kMostSteps = 10'000;

// Ratios fall while a plan takes longer, so they are minimised through what they consist of.
struct Parts {
  std::string_view metric;
  std::array<std::string_view, 2> minimized;
};
constexpr std::array<Parts, 2> kRatios = {
    {{"power", {"energy", "latency"}}, {"bandwidth_average", {"off_chip_bytes", "latency"}}}};

Json ValueOf(const YamlNode& node) {
  if (node.IsList()) {
    Json list = Json::array();
    for (const YamlNode& item : node.Items()) list.push_back(ValueOf(item));
    return list;
  }
  if (node.IsMap()) {
    Json map = Json::object();
    for (const auto& [key, value] : node.Entries()) map[key] = ValueOf(value);
    return map;
  }
  const std::string text = node.Text();
  if (text == "true" || text == "false") return text == "true";
  if (const std::optional<double> number = ParseQuantity(text)) return AsJson(*number);
  return text;
}

Expression ReadExpression(const YamlNode& node) {
  base::Expected<Expression> expression = Expression::Parse(node.Text());
  if (expression) return *std::move(expression);
  const base::Diagnostic& fault = expression.error();
  node.Complain(fault.message + " at its character " + std::to_string(fault.column),
                fault.expected);
  return {};
}

// Every path of a number, a truth or a name in the document.
void AddPaths(const Json& at, const std::string& path, std::vector<std::string>& paths) {
  if (!path.empty()) paths.push_back(path);
  if (!at.is_object()) return;
  const std::string prefix = path.empty() ? "" : path + ".";
  for (const auto& [key, value] : at.items()) {
    std::string inner = prefix;
    AddPaths(value, inner.append(key), paths);
  }
}

class SpecReader {
 public:
  SpecReader(const YamlNode& root, const std::string& file)
      : root_(root), folder_(base::FolderOf(file)) {
    spec_.file = file;
    if (Result<std::vector<std::string>> names = MetricNames()) metric_names_ = *std::move(names);
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
    if (const YamlNode vary = root_.Maybe("vary")) axes = ReadAxes(vary, bases);
    std::vector<Expression> where;
    if (const YamlNode conditions = root_.Maybe("where")) where = ReadConditions(conditions);
    spec_.space = Space(std::move(bases), std::move(axes), std::move(where));
    ReadObjectives();
    if (const YamlNode area = root_.Maybe("area")) ReadArea(area);
    static constexpr std::array<std::string_view, 3> kFronts = {"both", "networks", "set"};
    const YamlNode fronts = root_.Maybe("fronts");
    const size_t wanted = fronts ? fronts.OneOf(kFronts) : 0;
    // The front of a set of one is that of its network.
    spec_.wants_set_front = wanted != 1 && spec_.networks.size() > 1;
    spec_.wants_network_fronts = wanted != 2 || !spec_.wants_set_front;
    if (const YamlNode options = root_.Maybe("options")) ReadSettings(options);
    if (fault_) return base::Unexpected(*fault_);
    if (reader.Failed()) return Spec();
    return std::move(spec_);
  }

 private:
  std::string Resolve(const std::string& name) const {
    const fs::path path(name);
    return path.is_absolute() ? name : (folder_ / path).lexically_normal().string();
  }

  static std::vector<std::string_view> Views(const std::vector<std::string>& words) {
    return {words.begin(), words.end()};
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
      AddPaths(bases.back().document, "", paths_);
    }
    return bases;
  }

  // A file that cannot be opened is an error of the specification, any other one its own.
  void RefuseFile(const YamlNode& node, const std::string& file, const Error& error) {
    if (error.line == 0) {
      node.Complain("'" + file + "' cannot be read: " + error.message, error.expected);
    } else if (!fault_) {
      fault_ = AsDiagnostic(error);
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
      if (!names.insert(entry.name).second)
        node.Complain("there are two networks '" + entry.name + "'", "a 'name' for one of them");
      const base::Expected<std::string> content = base::ReadInput(entry.file);
      if (content) {
        entry.digest = DigestOf(*content);
      } else {
        node.Complain("'" + entry.file + "' cannot be read: " + content.error().message);
      }
    }
    if (spec_.networks.empty())
      root_.At("networks").Complain("there is no network", "at least one");
  }

  void ReadNetwork(const YamlNode& node, NetworkEntry& entry) {
    node.OnlyKeys({"file", "name", "weight", "limit", "dims", "floats_as"});
    entry.file = Resolve(node.At("file").Text());
    if (const YamlNode name = node.Maybe("name")) entry.name = name.Text();
    if (const YamlNode weight = node.Maybe("weight"))
      entry.weight = weight.Number(kLeastWeight, kMostWeight);
    if (const YamlNode limits = node.Maybe("limit")) {
      const std::vector<std::string_view> names = Views(metric_names_);
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

  // A table with the header `network,NAME,..`.
  void ReadColumns() {
    const YamlNode node = root_.Maybe("columns");
    if (!node) return;
    const std::string file = Resolve(node.Text());
    const base::Expected<std::string> text = base::ReadInput(file);
    if (!text) return node.Complain("'" + file + "' cannot be read: " + text.error().message);
    std::vector<std::string> header;
    int line = 0;
    for (size_t begin = 0; begin < text->size(); ++line) {
      const size_t end = std::min(text->find('\n', begin), text->size());
      const std::vector<std::string> cells =
          CellsOf(std::string_view(*text).substr(begin, end - begin));
      begin = end + 1;
      if (cells.size() == 1 && cells.front().empty()) continue;
      if (header.empty()) {
        header = cells;
        if (header.front() != "network")
          return RefuseRow(file, line, "the header network,NAME,..", header.front());
        continue;
      }
      if (cells.size() != header.size())
        return RefuseRow(file, line, std::to_string(header.size()) + " cells",
                         std::to_string(cells.size()));
      for (NetworkEntry& network : spec_.networks) {
        if (network.name != cells.front()) continue;
        for (size_t i = 1; i < cells.size(); ++i) {
          const std::optional<double> value = ParseQuantity(cells[i]);
          if (!value) return RefuseRow(file, line, "a number", cells[i]);
          network.columns[header[i]] = *value;
        }
      }
    }
    for (const NetworkEntry& network : spec_.networks) {
      if (network.columns.empty() && header.size() > 1)
        return node.Complain("'" + file + "' has no row for the network '" + network.name + "'");
    }
  }

  void RefuseRow(const std::string& file, int line, std::string expected, std::string found) {
    if (fault_) return;
    fault_.emplace();
    fault_->message = "the table of columns cannot be read";
    fault_->file = file;
    fault_->line = line + 1;
    fault_->column = 1;
    fault_->expected = std::move(expected);
    fault_->found = std::move(found);
  }

  std::vector<Axis> ReadAxes(const YamlNode& vary, const std::vector<BaseProfile>& bases) {
    std::vector<Axis> axes;
    for (const auto& [path, node] : vary.Entries()) {
      for (const BaseProfile& base : bases) {
        if (CanBeSet(base.document, path)) continue;
        node.ComplainOfKey("the profile '" + base.name + "' has no entry '" + path + "'",
                           "keys of the profile with dots between them, * for any key",
                           base::DidYouMean(path, Views(paths_)));
      }
      Axis axis{path, path, {}, std::nullopt};
      ReadAxis(node, axis);
      if (axis.name != path && !axis_names_.insert(axis.name).second)
        node.Complain("two entries have the name '" + axis.name + "'");
      axis_names_.insert(path);
      if (axis.expression) CheckNames(node, *axis.expression, Among::kSpace);
      axes.push_back(std::move(axis));
    }
    return axes;
  }

  // Whether the path names entries, or a key that profiles know.
  static bool CanBeSet(const Json& document, const std::string& path) {
    if (!FindEntries(document, path).empty()) return true;
    const std::vector<std::string> places = FindPlaces(document, path);
    if (places.empty()) return false;
    Json changed = document;
    SetEntries(changed, places, 1);
    const Result<Profile> profile = Profile::Parse(changed.dump());
    return profile || !profile.Error().message.starts_with("unknown key");
  }

  static void ReadAxis(const YamlNode& node, Axis& axis) {
    if (node.IsScalar()) {
      axis.expression = ReadExpression(node);
      return;
    }
    YamlNode values = node;
    if (node.IsMap()) {
      node.OnlyKeys({"name", "values", "from", "to", "steps"});
      if (const YamlNode name = node.Maybe("name")) axis.name = name.Text();
      values = node.Maybe("values");
      if (!values) return ReadRange(node, axis);
      if (values.IsScalar()) {
        axis.expression = ReadExpression(values);
        return;
      }
    }
    for (const YamlNode& item : values.Items()) axis.values.push_back(ValueOf(item));
    if (axis.values.empty()) values.Complain("there is no value", "at least one");
  }

  static double QuantityOf(const YamlNode& node) {
    const std::optional<double> number = ParseQuantity(node.Text());
    if (!number) node.Complain("this is no number", "a number, as 12, 0.5 or 128Ki");
    return number.value_or(0);
  }

  // Powers of two from the lower end on, or evenly spaced numbers with both ends.
  static void ReadRange(const YamlNode& node, Axis& axis) {
    const double from = QuantityOf(node.At("from"));
    const double to = QuantityOf(node.At("to"));
    if (to < from) node.At("to").Complain("the range ends before it begins");
    const YamlNode steps = node.At("steps");
    if (steps.Text() == "powers_of_two") {
      if (from <= 0) node.At("from").Complain("a range of powers needs a number above 0");
      for (double value = from; value <= to && value > 0; value *= 2)
        axis.values.push_back(AsJson(value));
      return;
    }
    if (!ParseQuantity(steps.Text()))
      return steps.Complain("unknown steps '" + steps.Text() + "'",
                            "powers_of_two, or the number of values");
    const int64_t count = steps.Integer(2, kMostSteps);
    const bool whole = std::floor(from) == from && std::floor(to) == to &&
                       to - from >= static_cast<double>(count - 1);
    for (int64_t i = 0; i < count; ++i) {
      const double value =
          from + (to - from) * static_cast<double>(i) / static_cast<double>(count - 1);
      const Json number = AsJson(whole ? std::round(value) : value);
      if (axis.values.empty() || axis.values.back() != number) axis.values.push_back(number);
    }
  }

  enum class Among { kSpace, kObjective };

  // Whether each name stands for something.
  void CheckNames(const YamlNode& node, const Expression& expression, Among among) const {
    std::vector<std::string> known = paths_;
    known.insert(known.end(), axis_names_.begin(), axis_names_.end());
    if (among == Among::kObjective) {
      known.insert(known.end(), metric_names_.begin(), metric_names_.end());
      known.emplace_back("area");
      for (const auto& [column, value] : spec_.networks.front().columns) known.push_back(column);
    }
    for (const std::string& name : expression.NamesUsed()) {
      const bool is_glob = name.find('*') != std::string::npos;
      if (is_glob || std::find(known.begin(), known.end(), name) != known.end()) continue;
      node.Complain("'" + name + "' stands for nothing",
                    among == Among::kSpace
                        ? "an entry of the profile, or a name under 'vary'"
                        : "a metric, area, a column, an entry of the profile, or a name under "
                          "'vary'",
                    base::DidYouMean(name, Views(known)));
    }
  }

  std::vector<Expression> ReadConditions(const YamlNode& node) const {
    std::vector<Expression> conditions;
    const std::vector<YamlNode> items = node.IsList() ? node.Items() : std::vector{node};
    for (const YamlNode& item : items) {
      conditions.push_back(ReadExpression(item));
      CheckNames(item, conditions.back(), Among::kSpace);
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
      CheckNames(node, expression, Among::kObjective);
      for (const std::string& name : expression.NamesUsed()) {
        spec_.needs_area = spec_.needs_area || name == "area";
        if (std::find(metric_names_.begin(), metric_names_.end(), name) != metric_names_.end())
          metrics.insert(name);
      }
      spec_.objectives.push_back({expression.Text(), expression});
    }
    for (const Parts& ratio : kRatios) {
      if (metrics.erase(std::string(ratio.metric)) > 0)
        metrics.insert(ratio.minimized.begin(), ratio.minimized.end());
    }
    if (metrics.empty() && !nodes.empty())
      nodes.front().Complain("no objective depends on a plan",
                             "one of " + base::Join(Views(metric_names_)));
    // In the order of the library, so that it does not depend on the specification.
    for (const std::string& name : metric_names_) {
      if (metrics.contains(name)) spec_.metrics.push_back(name);
    }
  }

  void ReadArea(const YamlNode& node) {
    for (const auto& [part, value] : node.Entries()) {
      if (part == "file") {
        const std::string file = Resolve(value.Text());
        const base::Expected<std::string> text = base::ReadInput(file);
        if (!text) {
          value.Complain("'" + file + "' cannot be read: " + text.error().message);
          continue;
        }
        base::Expected<std::vector<AreaRule>> rules = ReadAreaTable(*text, file);
        if (!rules && !fault_) fault_ = rules.error();
        if (!rules) continue;
        for (AreaRule& rule : *rules) spec_.area.Add(std::move(rule));
      } else if (!part.starts_with("memories.") && !part.starts_with("engines.") &&
                 !part.starts_with("links.")) {
        value.ComplainOfKey("'" + part + "' is no part of a chip",
                            "file, memories.NAME, engines.NAME or links.NAME, with * for any");
      } else {
        spec_.area.Add({part, {}, ReadExpression(value)});
      }
    }
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
  std::vector<std::string> metric_names_;
  std::vector<std::string> paths_;
  std::set<std::string> axis_names_;
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

base::Diagnostic AsDiagnostic(const Error& error) {
  base::Diagnostic diagnostic;
  diagnostic.message = error.message;
  diagnostic.file = error.file;
  diagnostic.line = error.line;
  diagnostic.column = error.column;
  diagnostic.pointer = error.pointer;
  diagnostic.expected = error.expected;
  diagnostic.found = error.found;
  diagnostic.hint = error.hint;
  return diagnostic;
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
