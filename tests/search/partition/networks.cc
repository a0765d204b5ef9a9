#include "networks.h"

#include "tessera/tests/search/simulate/small_machine.h"

namespace tessera::search {

graph::Graph AnyNetwork(base::Random& random, int operators) {
  NetworkBuilder net;
  const int64_t channels = random.Uniform(1, 3);
  int last = net.Input({1, channels, random.Uniform(2, 4), random.Uniform(1, 3)});
  int before = -1;
  for (int i = 0; i < operators; ++i) {
    if (before >= 0 && random.Chance(0.4)) {
      last = net.Add(before, last);
      before = -1;
    } else {
      before = last;
      last = net.Conv(last, random.Chance(0.5) ? 3 : 1, channels);
    }
  }
  return net.Finish(last);
}

graph::Graph Chain(int operators) {
  NetworkBuilder net;
  int last = net.Input({1, 2, 8, 4});
  for (int i = 0; i < operators; ++i) last = net.Conv(last, 3, 2);
  return net.Finish(last);
}

}  // namespace tessera::search
