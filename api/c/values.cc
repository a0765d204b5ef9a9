// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/c/handles.h"

// NOLINTBEGIN(cppcoreguidelines-owning-memory)
namespace tessera::api::c {
namespace {

static_assert(static_cast<int>(CallStatus::kInternal) == TESSERA_INTERNAL);
static_assert(static_cast<int>(Outcome::kUnsupported) == TESSERA_NO_SUPPORT);

ImportOptions ImportWith(const tessera_profile* profile) {
  ImportOptions options;
  options.profile = profile != nullptr ? &profile->value : nullptr;
  return options;
}

}  // namespace
}  // namespace tessera::api::c

using namespace tessera;
using namespace tessera::api::c;

extern "C" {

const char* tessera_version() { return Version(); }

const char* tessera_error_text(const tessera_error* error) { return error->value.text.c_str(); }
const char* tessera_error_message(const tessera_error* error) {
  return error->value.message.c_str();
}
const char* tessera_error_file(const tessera_error* error) { return error->value.file.c_str(); }
int tessera_error_line(const tessera_error* error) { return error->value.line; }
int tessera_error_column(const tessera_error* error) { return error->value.column; }
const char* tessera_error_hint(const tessera_error* error) { return error->value.hint.c_str(); }
void tessera_error_free(tessera_error* error) { delete error; }

void tessera_text_free(char* text) { std::free(text); }

tessera_status tessera_profile_load(const char* path, tessera_profile** profile,
                                    tessera_error** error) {
  *profile = nullptr;
  return Guarded(error, [&] { return Give(Profile::Load(path), profile, error); });
}

tessera_status tessera_profile_parse(const char* yaml, size_t size, tessera_profile** profile,
                                     tessera_error** error) {
  *profile = nullptr;
  return Guarded(error, [&] { return Give(Profile::Parse({yaml, size}), profile, error); });
}

tessera_status tessera_profile_with(const tessera_profile* profile, const char* path,
                                    const char* value, tessera_profile** changed,
                                    tessera_error** error) {
  *changed = nullptr;
  return Guarded(error, [&] { return Give(profile->value.With(path, value), changed, error); });
}

tessera_status tessera_profile_fit(const tessera_profile* profile, const char* measured,
                                   tessera_profile** fitted, char** json, tessera_error** error) {
  *fitted = nullptr;
  if (json != nullptr) *json = nullptr;
  return Guarded(error, [&] {
    const Result<Measurements> read = Measurements::Load(measured, profile->value);
    if (!read) return Fail(read.Error(), error);
    Result<ProfileFit> fit = FitProfile(profile->value, *read);
    if (!fit) return Fail(fit.Error(), error);
    std::unique_ptr<char, decltype(&std::free)> text(json != nullptr ? Copy(fit->json) : nullptr,
                                                     &std::free);
    const tessera_status given = Give(Result<Profile>(std::move(fit->profile)), fitted, error);
    if (json != nullptr && given == TESSERA_OK) *json = text.release();
    return given;
  });
}

const char* tessera_profile_json(const tessera_profile* profile) {
  return profile->value.Json().c_str();
}
void tessera_profile_free(tessera_profile* profile) { delete profile; }

tessera_status tessera_network_load(const char* path, const tessera_profile* profile,
                                    tessera_network** network, tessera_error** error) {
  *network = nullptr;
  return Guarded(error,
                 [&] { return Give(Network::Load(path, ImportWith(profile)), network, error); });
}

tessera_status tessera_network_parse(const void* bytes, size_t size, const char* name,
                                     const tessera_profile* profile, tessera_network** network,
                                     tessera_error** error) {
  *network = nullptr;
  const std::string_view view(static_cast<const char*>(bytes), size);
  return Guarded(
      error, [&] { return Give(Network::Parse(view, name, ImportWith(profile)), network, error); });
}

tessera_status tessera_network_with_costs(const tessera_network* network, const char* csv,
                                          size_t size, const char* name, tessera_network** changed,
                                          tessera_error** error) {
  *changed = nullptr;
  return Guarded(error, [&] {
    return Give(network->value.WithCosts(std::string_view(csv, size), name), changed, error);
  });
}

tessera_status tessera_network_with_sizes(const tessera_network* network, const char* csv,
                                          size_t size, const char* name, tessera_network** changed,
                                          tessera_error** error) {
  *changed = nullptr;
  return Guarded(error, [&] {
    return Give(network->value.WithSizes(std::string_view(csv, size), name), changed, error);
  });
}

size_t tessera_network_operator_count(const tessera_network* network) {
  return network->value.OperatorCount();
}
void tessera_network_free(tessera_network* network) { delete network; }

tessera_canceller* tessera_canceller_new() {
  const Canceller canceller;
  return canceller.HasState() ? new (std::nothrow) tessera_canceller{canceller} : nullptr;
}
void tessera_canceller_cancel(const tessera_canceller* canceller) { canceller->value.Cancel(); }
void tessera_canceller_free(tessera_canceller* canceller) { delete canceller; }

}  // extern "C"

// NOLINTEND(cppcoreguidelines-owning-memory)
