// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_VERSION_H_
#define TESSERA_VERSION_H_

/* The version of these headers, which CMake reads too. Releases of one major version from 1 on are
   compatible; before that, releases of one minor version are. Valid C and C++. */
#define TESSERA_VERSION_MAJOR 0
#define TESSERA_VERSION_MINOR 1
#define TESSERA_VERSION_PATCH 0

/* Marks what the shared library exports. */
#if defined(__GNUC__)
#define TESSERA_API __attribute__((visibility("default")))
#else
#define TESSERA_API
#endif

#endif /* TESSERA_VERSION_H_ */
