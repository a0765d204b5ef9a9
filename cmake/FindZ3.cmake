# SPDX-License-Identifier: Apache-2.0
# Finds the Z3 SMT solver, which Debian ships without a CMake package. Defines the imported target Z3::Z3.

find_path(Z3_INCLUDE_DIR z3++.h)
find_library(Z3_LIBRARY z3)

if(Z3_INCLUDE_DIR)
  file(STRINGS ${Z3_INCLUDE_DIR}/z3_version.h version_line REGEX "define Z3_FULL_VERSION")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" Z3_VERSION "${version_line}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Z3 REQUIRED_VARS Z3_LIBRARY Z3_INCLUDE_DIR VERSION_VAR Z3_VERSION)

if(Z3_FOUND AND NOT TARGET Z3::Z3)
  add_library(Z3::Z3 UNKNOWN IMPORTED)
  set_target_properties(Z3::Z3 PROPERTIES
    IMPORTED_LOCATION ${Z3_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${Z3_INCLUDE_DIR})
endif()
mark_as_advanced(Z3_INCLUDE_DIR Z3_LIBRARY)
