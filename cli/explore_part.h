// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/exit_code.h"
#include "tessera/explore/space.h"
#include "tessera/explore/store.h"

namespace tessera::cli {

class Console;

// A part of `tessera explore` that a further word chooses, such as `merge`.
class ExplorePart {
 public:
  ExplorePart() = default;
  ExplorePart(const ExplorePart&) = delete;
  ExplorePart& operator=(const ExplorePart&) = delete;
  virtual ~ExplorePart() = default;
  virtual ExitCode Run(Console& console) = 0;
};

// Returns the document of the exploration that a store finished last.
base::Expected<explore::Json> LatestDocument(const explore::Store& store, const std::string& path);

// Reports an error of work with a store, which may be an output that cannot be written.
ExitCode RefuseStore(Console& console, const explore::StoreFault& fault);

// Does the work of a command that reads a store. Only this program writes the documents of stores,
// so a document that cannot be read is damaged; the console reports it.
ExitCode WithStore(Console& console, const std::function<ExitCode()>& work);

}  // namespace tessera::cli
