// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/explore_part.h"

#include <optional>

#include "tessera/cli/console.h"

namespace tessera::cli {

base::Expected<explore::Json> LatestDocument(const explore::Store& store, const std::string& path) {
  const std::optional<std::string> document = store.FindLatestResult();
  if (document) return explore::Json::parse(*document);
  base::Diagnostic fault;
  fault.file = path;
  fault.message = "the store has no finished exploration";
  fault.hint = "run `tessera explore SPEC --store " + path + "` to its end";
  return base::Unexpected(fault);
}

ExitCode RefuseStore(Console& console, const explore::StoreFault& fault) {
  const ExitCode code = console.Refuse(fault);
  return fault.is_of_writing ? ExitCode::kCannotWrite : code;
}

ExitCode WithStore(Console& console, const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const explore::Json::exception& error) {
    base::Diagnostic fault;
    fault.message = "the store is damaged: one of its documents cannot be read";
    fault.found = error.what();
    fault.hint = "explore again with a new store";
    return console.Refuse(fault);
  }
}

}  // namespace tessera::cli
