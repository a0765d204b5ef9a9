# SPDX-License-Identifier: Apache-2.0
# Compiles the installed headers alone with several compilers: as C++17, 20 and 23 without
# exceptions and type information, and as C99.
#   cmake "-DCOMPILERS=g++-12,clang++-14" -DSOURCE=. -P CompileHeaders.cmake
if(NOT COMPILERS)
  message(FATAL_ERROR "none of the compilers was found")
endif()
string(REPLACE "," ";" compilers "${COMPILERS}")
set(flags -Wall -Wextra -pedantic -Werror -fsyntax-only -I${SOURCE}/api/include)
foreach(compiler IN LISTS compilers)
  message(STATUS ${compiler})
  foreach(standard 17 20 2b)
    execute_process(
      COMMAND ${compiler} -std=c++${standard} -fno-exceptions -fno-rtti ${flags}
              ${SOURCE}/tests/api/headers_cpp.cc
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
  execute_process(COMMAND ${compiler} -x c -std=c99 ${flags} ${SOURCE}/tests/api/c_test.c
    COMMAND_ERROR_IS_FATAL ANY)
endforeach()
