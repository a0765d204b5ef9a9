// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/bench/measure.h"

// Tables about families of generated problems (problem/generate/families.h).
namespace tessera::bench {

void PrintFamilies(const Arguments& arguments);

// TelaMalloc's two micro-instances.
void PrintMicro(const Arguments& arguments);

}  // namespace tessera::bench
