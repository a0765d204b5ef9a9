# How every target of the project is compiled, and how sources find each other.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Sources include "tessera/<module>/x.h", as an installed user does: include/tessera is a link to the root.

add_library(tessera_options INTERFACE)
target_include_directories(tessera_options INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_compile_options(tessera_options INTERFACE -Wall -Wextra -Werror)

# tessera_library(<name> SOURCES a.cc ... LINKS other ...) adds a static library of one module or inner folder.
function(tessera_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tessera_options ${ARG_LINKS} PRIVATE ${ARG_PRIVATE_LINKS})
endfunction()

# tessera_test(<name> SOURCES x_test.cc ... LINKS library ...) adds a GoogleTest program and registers each of its tests.
function(tessera_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tessera_options ${ARG_LINKS} GTest::gmock GTest::gtest_main rapidcheck)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  # RapidCheck draws from the clock unless it is told a seed: what fails once must fail again.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 300 ENVIRONMENT "RC_PARAMS=seed=1")
endfunction()
