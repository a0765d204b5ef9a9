# SPDX-License-Identifier: Apache-2.0
# How every target of the project is compiled, and how sources find each other.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
find_program(TESSERA_CCACHE ccache)
if(TESSERA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TESSERA_CCACHE})
endif()

# The archives become parts of the shared library, which exports only what its headers mark.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Sources include "tessera/<module>/x.h": include/tessera is a link to the root.
set(TESSERA_INCLUDES ${PROJECT_SOURCE_DIR}/include)

# Warnings are for targets of the project alone, and errors only in its own presets: other compilers
# warn about other things.
option(TESSERA_WARNINGS_ARE_ERRORS "Stop at the first warning" OFF)
set(TESSERA_WARNINGS -Wall -Wextra)
if(TESSERA_WARNINGS_ARE_ERRORS)
  list(APPEND TESSERA_WARNINGS -Werror)
endif()

# Sees the sources of the project, and is held to its warnings.
function(tessera_target name scope)
  target_include_directories(${name} ${scope} ${TESSERA_INCLUDES})
  target_compile_options(${name} PRIVATE ${TESSERA_WARNINGS})
endfunction()

# tessera_library(<name> SOURCES a.cc ... LINKS other ...) adds a static library of one module or inner folder.
function(tessera_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  tessera_target(${name} PUBLIC)
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()

# tessera_program(<name> SOURCES a.cc ... LINKS other ...) adds a program.
function(tessera_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tessera_target(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS})
endfunction()

# tessera_test(<name> SOURCES x_test.cc ... LINKS library ...) adds a GoogleTest program and registers each of its tests.
function(tessera_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  tessera_target(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${ARG_LINKS} GTest::gmock GTest::gtest_main rapidcheck)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(TARGET tessera_test_headers)
    target_precompile_headers(${name} REUSE_FROM tessera_test_headers)
  endif()
  # RapidCheck draws from the clock unless it has a seed: what fails once must fail again.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST
    PROPERTIES TIMEOUT ${TESSERA_TEST_SECONDS} ENVIRONMENT "RC_PARAMS=seed=1")
endfunction()
