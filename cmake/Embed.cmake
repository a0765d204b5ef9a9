# SPDX-License-Identifier: Apache-2.0
# Files of the project as constants of the program. Run as a script (cmake -P):
#   OUTPUT     the source file to write
#   HEADER     what it includes, which declares the functions
#   NAMESPACE  theirs
#   PARTS      name=file[,file...] for each function; several files are joined in order. Parts are separated by '|'.

set(source "// Made by cmake/Embed.cmake.\n#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n")
string(REPLACE "|" ";" parts "${PARTS}")
foreach(part IN LISTS parts)
  string(REGEX MATCH "^([A-Za-z]+)=(.*)$" matched "${part}")
  set(name "${CMAKE_MATCH_1}")
  string(REPLACE "," ";" files "${CMAKE_MATCH_2}")
  string(APPEND source "\nstd::string_view ${name}() {\n  return R\"embedded(")
  foreach(file IN LISTS files)
    file(READ "${file}" content)
    string(APPEND source "${content}")
  endforeach()
  string(APPEND source ")embedded\";\n}\n")
endforeach()
string(APPEND source "\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${source}")
