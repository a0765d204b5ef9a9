// SPDX-License-Identifier: Apache-2.0

#include <tessera/allocate.h>

#include <string>

#include "tessera/api/content.h"
#include "tessera/api/parts/engine_makers.h"

// Tessera::allocate has no parsers, solvers, profiles, or proofs in files. Functions of
// tessera/allocate.h that need them exist here too, but return kUnsupported.
namespace tessera::api {
namespace {

Error NotInThisLibrary(const std::string& what) {
  base::Diagnostic fault;
  fault.message = what + " is not part of this library";
  fault.expected = "Tessera::plan, the whole library";
  return AsError(CallStatus::kUnsupported, fault);
}

}  // namespace

namespace parts {

EngineTable FurtherEngines() { return {}; }

}  // namespace parts

std::optional<Error> Certify(const Problem&, const AllocateOptions&, const parts::AllocationAnswer&,
                             const base::Stop&, AllocateAnswer& answer) {
  answer.no_certificate = "this library writes no certificates; Tessera::plan does";
  return std::nullopt;
}

// Problem::With never makes such a problem here.
Result<AllocateAnswer> PlaceConstrained(const Problem&, const AllocateOptions&) {
  return NotInThisLibrary("a constraint of the caller");
}

std::string FindBroken(const Problem::Content&, const problem::Allocation&) { return {}; }

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<Problem> Problem::Load(const std::string&, const ListFormat&) {
  return api::Guarded([]() -> Result<Problem> { return api::NotInThisLibrary("reading files"); });
}

Result<Problem> Problem::Parse(std::string_view, const std::string&, const ListFormat&) {
  return api::Guarded([]() -> Result<Problem> { return api::NotInThisLibrary("reading files"); });
}

Result<Problem> Problem::InMemoryOf(const Profile&) const {
  return api::Guarded([]() -> Result<Problem> { return api::NotInThisLibrary("a profile"); });
}

Result<Problem> Problem::With(const OffsetConstraint&) const {
  return api::Guarded(
      []() -> Result<Problem> { return api::NotInThisLibrary("a constraint of the caller"); });
}

Result<std::string> Problem::Render(std::string_view) const {
  return api::Guarded(
      []() -> Result<std::string> { return api::NotInThisLibrary("writing files"); });
}

Result<Allocation> Allocation::Parse(const Problem&, std::string_view, const std::string&) {
  return api::Guarded(
      []() -> Result<Allocation> { return api::NotInThisLibrary("reading files"); });
}

Result<std::string> Allocation::Render(std::string_view) const {
  return api::Guarded(
      []() -> Result<std::string> { return api::NotInThisLibrary("writing files"); });
}

Result<Done> Allocation::Save(const std::string&) const {
  return api::Guarded([]() -> Result<Done> { return api::NotInThisLibrary("writing files"); });
}

}  // namespace v0
}  // namespace tessera
