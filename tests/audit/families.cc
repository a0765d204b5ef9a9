#include "optimum.h"

namespace tessera::audit {

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies = {
      {"optimum", "the search against every plan of small networks", 1, DrawSmall, CheckOptimum}};
  return kFamilies;
}

}  // namespace tessera::audit
