#include "more.h"
#include "optimum.h"

namespace tessera::audit {

const std::vector<Family>& Families() {
  static const std::vector<Family> kFamilies = {
      {"optimum", "the search against every plan of small networks", 1, DrawSmall, CheckOptimum},
      {"more", "more of anything allowed is never worse", 1, DrawAny, CheckMore}};
  return kFamilies;
}

}  // namespace tessera::audit
