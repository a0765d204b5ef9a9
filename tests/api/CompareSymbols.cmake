# SPDX-License-Identifier: Apache-2.0
# Compares what a shared library exports with a list:
#   cmake -DNM=nm -DLIBRARY=libtessera.so -DLIST=exported_symbols.txt -P CompareSymbols.cmake
execute_process(COMMAND ${NM} -D --defined-only --format=posix ${LIBRARY} OUTPUT_VARIABLE found
  COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "(^|\n)[^ \n]+" found "${found}")
list(TRANSFORM found STRIP)
list(TRANSFORM found REPLACE "@.*" "")
list(SORT found)
list(REMOVE_DUPLICATES found)
list(JOIN found "\n" text)
file(READ ${LIST} expected)
if(NOT "${text}\n" STREQUAL "${expected}")
  message(FATAL_ERROR "the library exports other symbols than ${LIST} lists:\n${text}\n")
endif()
