// SPDX-License-Identifier: Apache-2.0

#include <pthread.h>

#include <cerrno>

// A library to preload into a command: the system has no more threads.
extern "C" [[gnu::visibility("default")]] int pthread_create(pthread_t* /*thread*/,
                                                             const pthread_attr_t* /*attributes*/,
                                                             void* (*)(void*),
                                                             void* /*argument*/) noexcept {
  return EAGAIN;
}
