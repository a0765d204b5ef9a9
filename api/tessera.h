// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_TESSERA_H_
#define TESSERA_TESSERA_H_

// The whole C++ interface of Tessera (docs/library.md):
//
//     #include <tessera/tessera.h>
//
//     auto network = tessera::Network::Load("mobilenet_v2.yaml");
//     auto profile = tessera::Profile::Load("edge_npu_1mib.yaml");
//     if (!network || !profile) ...                     // Error() says what is wrong, and where
//     auto answer = tessera::MakePlan(*network, *profile);
//     if (answer && answer->plan) answer->plan->Save("plan.json");
#include <tessera/allocate.h>
#include <tessera/bounds.h>
#include <tessera/call.h>
#include <tessera/certificate.h>
#include <tessera/choose.h>
#include <tessera/constraint.h>
#include <tessera/evaluator.h>
#include <tessera/explore.h>
#include <tessera/fit.h>
#include <tessera/formula.h>
#include <tessera/lists.h>
#include <tessera/modes.h>
#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>
#include <tessera/session.h>
#include <tessera/space.h>
#include <tessera/tile.h>
#include <tessera/version.h>

namespace tessera {
inline namespace v0 {

// "0.1.0": of the library, which may differ from the headers.
TESSERA_API const char* Version() noexcept;

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_TESSERA_H_
