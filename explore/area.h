#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/expression.h"
#include "tessera/explore/space.h"

// The silicon area of a profile, as the sum over its memories, engines and links.
namespace tessera::explore {

// The area of the parts that match, in square millimetres. Names in the expression are fields of
// the part ("capacity_bytes", "port.bytes_per_cycle"), then
//
//   banks     of a memory: their number, 1 without banks
//   accesses  of a memory: the access paths of all banks, one for each access that some mode allows
//             to a bank: a bank that is only read in one mode and only written in another has two
//   macs      of an engine: multiply-accumulates in a cycle, the most of its operators' `unroll` for
//             each of `cycles_per_step`, if that is more than 1
//
// and then whatever names stand for in the space.
struct AreaRule {
  std::string part;                                             // "memories.sram", "engines.*"
  std::vector<std::pair<std::string, double>> conditions = {};  // fields that must have this value
  Expression mm2;
};

using Lookup = std::function<std::optional<double>(std::string_view name)>;

class AreaModel {
 public:
  void Add(AreaRule rule) { rules_.push_back(std::move(rule)); }
  const std::vector<AreaRule>& Rules() const { return rules_; }

  // `area_mm2` of a part counts first, then the first rule that matches. Refuses a document with
  // parts that have neither, and names them. `names`: of the space.
  base::Expected<double> Of(const Json& document, const Lookup& names) const;

 private:
  base::Expected<std::optional<double>> OfPart(const std::string& part, const Json& fields,
                                               const Lookup& names) const;

  std::vector<AreaRule> rules_;
};

// Rules from a table with a header: `part`, any number of fields, `area_mm2`.
//
//     part,capacity_bytes,area_mm2
//     memories.sram,65536,0.041
//
// An empty cell is no condition. `file` is for messages.
base::Expected<std::vector<AreaRule>> ReadAreaTable(std::string_view text, const std::string& file);

// The cells of a line of CSV without quotes, blanks around them removed.
std::vector<std::string> CellsOf(std::string_view line);

}  // namespace tessera::explore
