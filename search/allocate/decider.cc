#include "tessera/search/allocate/decider.h"

#include "tessera/search/allocate/portfolio.h"

namespace tessera::search {

std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)> MakeDecider(
    std::span<const problem::Engine* const> engines, const base::Stop& stop) {
  return
      [engines, &stop](const problem::Problem& problem, problem::Bytes capacity, const base::Budget& budget) {
        AllocateOptions options;
        options.capacity = capacity;
        options.budget = budget;
        options.stop = &stop;
        base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, engines, options);
        if (result) return *std::move(result);
        problem::Result fault;
        fault.reason = result.error().message;
        return fault;
      };
}

}  // namespace tessera::search
