#include "module.h"

#include <tessera/tessera.h>

PYBIND11_MODULE(_native, module) {
  using namespace tessera::python;
  module.attr("version") = tessera::Version();
  DefineOptions(module);
  DefineInputs(module);
  DefineAllocations(module);
  DefinePlans(module);
  DefineQuestions(module);
  DefineSessions(module);
}
