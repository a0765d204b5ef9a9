# SPDX-License-Identifier: Apache-2.0
# Copies the libraries that `module` needs into its folder, under the names by which they are loaded: a wheel has no links.
file(GET_RUNTIME_DEPENDENCIES MODULES ${module} RESOLVED_DEPENDENCIES_VAR libraries
  PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread|gcc_s|stdc..)[.]so" "^ld-linux")
foreach(library IN LISTS libraries)
  cmake_path(GET library FILENAME name)
  file(REAL_PATH ${library} source)
  file(COPY_FILE ${source} ${CMAKE_INSTALL_PREFIX}/tessera/${name})
endforeach()
