// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/c/handles.h"

// Tiles, formulas, modes, certificates and sessions.
// NOLINTBEGIN(cppcoreguidelines-owning-memory)
namespace tessera::api::c {
namespace {

TileOptions Translate(const tessera_tile_options& given) {
  const tessera_tile_options known = Complete(given);
  TileOptions options;
  options.operators = TextOf(known.operators);
  options.tile = TextOf(known.tile);
  options.all = known.all != 0;
  options.explain = known.no_explanation == 0;
  TranslateSearch(known, options);
  return options;
}

FormulaOptions Translate(const tessera_formula_options& given) {
  const tessera_formula_options known = Complete(given);
  FormulaOptions options;
  if (known.format != nullptr) options.format = known.format;
  if (known.capacity != 0) options.capacity = known.capacity;
  options.candidate = TextOf(known.candidate);
  if (known.integers != nullptr) options.integers = known.integers;
  return options;
}

tessera_status GiveTiles(Result<TileAnswer> made, tessera_tiles** tiles, tessera_error** error) {
  if (!made) return Fail(made.Error(), error);
  auto handle = std::make_unique<tessera_tiles>();
  handle->value = *std::move(made);
  handle->explanation = Joined(handle->value.explanation);
  *tiles = handle.release();
  return TESSERA_OK;
}

}  // namespace
}  // namespace tessera::api::c

using namespace tessera;
using namespace tessera::api::c;

extern "C" {

tessera_status tessera_find_tiles(const tessera_network* network, const tessera_profile* profile,
                                  const tessera_tile_options* options, tessera_tiles** tiles,
                                  tessera_error** error) {
  *tiles = nullptr;
  return Guarded(error, [&] {
    const TileOptions known = options != nullptr ? Translate(*options) : TileOptions();
    return GiveTiles(FindTiles(network->value, profile->value, known), tiles, error);
  });
}

tessera_outcome tessera_tiles_outcome(const tessera_tiles* tiles) {
  return static_cast<tessera_outcome>(tiles->value.outcome);
}
const char* tessera_tiles_largest(const tessera_tiles* tiles) {
  return tiles->value.largest.c_str();
}
int tessera_tiles_largest_is_proven(const tessera_tiles* tiles) {
  return tiles->value.largest_is_proven ? 1 : 0;
}
const char* tessera_tiles_explanation(const tessera_tiles* tiles) {
  return tiles->explanation.c_str();
}
int tessera_tiles_stopped(const tessera_tiles* tiles) { return tiles->value.stopped ? 1 : 0; }
size_t tessera_tiles_count(const tessera_tiles* tiles) { return tiles->value.tiles.size(); }

int tessera_tiles_get(const tessera_tiles* tiles, size_t index, tessera_tile* tile) {
  if (index >= tiles->value.tiles.size()) return 0;
  const Tile& from = tiles->value.tiles[index];
  const tessera_tile all = {tile->size,
                            from.shape.c_str(),
                            from.policy.c_str(),
                            static_cast<tessera_outcome>(from.outcome),
                            from.is_corner ? 1 : 0,
                            from.is_proven_corner ? 1 : 0,
                            from.tiles,
                            from.lower_bound,
                            from.peak.value_or(0),
                            from.latency_cycles.value_or(0),
                            from.energy_pj.value_or(0),
                            from.off_chip_bytes.value_or(0)};
  std::memcpy(tile, &all, std::min(tile->size, sizeof all));
  return 1;
}

const char* tessera_tiles_json(const tessera_tiles* tiles) { return tiles->value.json.c_str(); }
void tessera_tiles_free(tessera_tiles* tiles) { delete tiles; }

tessera_status tessera_tile_problem(const tessera_network* network, const tessera_profile* profile,
                                    const char* operators, const char* tile, const char* policy,
                                    tessera_problem** problem, tessera_error** error) {
  *problem = nullptr;
  return Guarded(error, [&] {
    const TileChoice choice = {TextOf(operators), TextOf(tile), TextOf(policy)};
    return Give(MakeProblem(network->value, profile->value, choice), problem, error);
  });
}

tessera_status tessera_encode(const tessera_problem* problem,
                              const tessera_formula_options* options, char** formula,
                              tessera_error** error) {
  *formula = nullptr;
  return Guarded(error, [&] {
    const Result<Formula> written =
        Encode(problem->value, options != nullptr ? Translate(*options) : FormulaOptions());
    if (!written) return Fail(written.Error(), error);
    *formula = Copy(written->text);
    return TESSERA_OK;
  });
}

tessera_status tessera_decode(const tessera_problem* problem, const char* formula,
                              const char* output, tessera_allocation** allocation,
                              tessera_error** error) {
  *allocation = nullptr;
  return Guarded(error, [&] {
    return GiveAllocation(Decode(problem->value, formula, output), allocation, error);
  });
}

tessera_status tessera_modes(const tessera_plan* const* plans, size_t count, char** json,
                             char** reduced, tessera_error** error) {
  *json = nullptr;
  if (reduced != nullptr) *reduced = nullptr;
  return Guarded(error, [&] {
    std::vector<Plan> values;
    for (size_t i = 0; i < count; ++i) values.push_back(plans[i]->value);
    const Result<ModesAnswer> answer = Modes(values);
    if (!answer) return Fail(answer.Error(), error);
    std::unique_ptr<char, decltype(&std::free)> text(Copy(answer->json), &std::free);
    if (reduced != nullptr) *reduced = Copy(answer->reduced);
    *json = text.release();
    return TESSERA_OK;
  });
}

tessera_status tessera_certificate_load(const char* folder, tessera_certificate** certificate,
                                        tessera_error** error) {
  *certificate = nullptr;
  return Guarded(error, [&] { return Give(Certificate::Load(folder), certificate, error); });
}

tessera_status tessera_certificate_save(const tessera_certificate* certificate, const char* folder,
                                        tessera_error** error) {
  return Guarded(error, [&] {
    const Result<Done> saved = certificate->value.Save(folder);
    return saved ? TESSERA_OK : Fail(saved.Error(), error);
  });
}

tessera_status tessera_certificate_check(const tessera_certificate* certificate, int* accepted,
                                         char** findings, tessera_error** error) {
  *accepted = 0;
  if (findings != nullptr) *findings = nullptr;
  return Guarded(error, [&] {
    const Result<CertificateReport> report = Check(certificate->value);
    return report ? Give(*report, accepted, findings) : Fail(report.Error(), error);
  });
}

void tessera_certificate_free(tessera_certificate* certificate) { delete certificate; }

tessera_status tessera_session_new(size_t most_bytes, tessera_session** session,
                                   tessera_error** error) {
  *session = nullptr;
  return Guarded(error, [&] {
    SessionOptions options;
    if (most_bytes != 0) options.most_bytes = most_bytes;
    const Session made(options);
    if (!made.HasState()) throw std::bad_alloc();
    *session = new tessera_session{made};
    return TESSERA_OK;
  });
}

tessera_status tessera_session_make_plan(const tessera_session* session,
                                         const tessera_network* network,
                                         const tessera_profile* profile,
                                         const tessera_plan_options* options,
                                         tessera_answer** answer, tessera_error** error) {
  *answer = nullptr;
  return Guarded(error, [&] {
    const PlanOptions known = options != nullptr ? Translate(*options) : PlanOptions();
    return GiveAnswer(session->value.MakePlan(network->value, profile->value, known), answer,
                      error);
  });
}

tessera_status tessera_session_allocate(const tessera_session* session,
                                        const tessera_problem* problem,
                                        const tessera_allocate_options* options,
                                        tessera_allocation** allocation, tessera_error** error) {
  *allocation = nullptr;
  return Guarded(error, [&] {
    const AllocateOptions known = options != nullptr ? Translate(*options) : AllocateOptions();
    return GiveAllocation(session->value.Allocate(problem->value, known), allocation, error);
  });
}

void tessera_session_free(tessera_session* session) { delete session; }

}  // extern "C"

// NOLINTEND(cppcoreguidelines-owning-memory)
