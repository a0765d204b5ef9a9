// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/engine_makers.h"
#include "tessera/encoder/sat/cadical_engine.h"
#ifdef TESSERA_IPASIR
#include "tessera/encoder/sat/ipasir_engine.h"
#endif
#ifdef TESSERA_Z3
#include "tessera/encoder/smt/z3_engine.h"
#endif
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/guided/learned_backtracking.h"

namespace tessera::api::parts {
namespace {

// Rules of the lazy engine and of boxing.
constexpr EngineRule kFurtherRules[] = {
    {"mirror", [](EngineOptions& o) { o.lazy.break_mirror = false; }},
    {"edge-finding", [](EngineOptions& o) { o.lazy.edge_finding = false; }},
    {"section-pair-cuts", [](EngineOptions& o) { o.lazy.section_pair_cuts = 0; }},
    {"section-energy", [](EngineOptions& o) { o.lazy.section_energy = false; }},
    {"clause-minimisation", [](EngineOptions& o) { o.lazy.minimize_clauses = false; }},
    {"clause-reduction", [](EngineOptions& o) { o.lazy.reduce_clauses = false; }},
    {"clause-keeping", [](EngineOptions& o) { o.lazy.keep_clauses = false; }},
    {"restarts", [](EngineOptions& o) { o.lazy.restart_base = 0; }},
    {"order-decisions", [](EngineOptions& o) { o.lazy.orders_every = 0; }},
    {"latent-invariants", [](EngineOptions& o) { o.boxing.latent_invariants = false; }},
    {"calibration", [](EngineOptions& o) { o.boxing.calibration = false; }},
    {"critical-points", [](EngineOptions& o) { o.boxing.critical_points = false; }},
    {"unboxing", [](EngineOptions& o) { o.boxing.unboxing = false; }},
    {"dummy-job", [](EngineOptions& o) { o.boxing.dummy_job = false; }},
    {"hints", [](EngineOptions& o) { o.lazy.follow_hints = false; }},
};

constexpr EngineMaker kFurther[] = {
    {"lazy", true,
     [](const EngineOptions& o, uint64_t) {
       return MakeEngine<search::engines::lazy::LazyEngine>(o.lazy);
     }},
    {"cadical", true,
     [](const EngineOptions&, uint64_t seed) {
       return MakeEngine<encoder::sat::SatEngine>(encoder::sat::SatOptions{.seed = seed});
     }},
    {"boxing", false,
     [](const EngineOptions& o, uint64_t seed) {
       return MakeEngine<search::engines::boxing::BoxingEngine>(seed, o.boxing);
     }},
    {"guided", false,
     [](const EngineOptions&, uint64_t) {
       return MakeEngine<search::engines::guided::GuidedEngine>();
     }},
    {"guided-learned", false,
     [](const EngineOptions&, uint64_t) {
       return MakeEngine<search::engines::guided::GuidedEngine>(
           search::engines::guided::GuidedOptions{
               .backtracking = search::engines::guided::LearnedBacktracking()});
     }},
#ifdef TESSERA_Z3
    {"z3", false,
     [](const EngineOptions&, uint64_t seed) {
       return MakeEngine<encoder::smt::Z3Engine>(encoder::smt::Z3Options{.seed = seed});
     }},
#endif
#ifdef TESSERA_IPASIR
    {"ipasir", false,
     [](const EngineOptions&, uint64_t) { return MakeEngine<encoder::sat::IpasirEngine>(); }},
#endif
};

}  // namespace

EngineTable FurtherEngines() { return {kFurther, kFurtherRules}; }

}  // namespace tessera::api::parts
