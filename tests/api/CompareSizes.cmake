# SPDX-License-Identifier: Apache-2.0
# Holds the sizes of Tessera::allocate, and what it needs:
#   cmake -DLIBRARY=libtessera_allocate.so -DENGINES=a.o,b.o -DREADELF=readelf -DSIZE=size -DSTRIP=strip -DFOLDER=scratch -P CompareSizes.cmake
function(expect_at_most bytes most what)
  message(STATUS "${what}: ${bytes} bytes, at most ${most}")
  if(bytes GREATER most)
    message(FATAL_ERROR "${what} are ${bytes} bytes; at most ${most} are expected")
  endif()
endfunction()

file(MAKE_DIRECTORY ${FOLDER})
execute_process(COMMAND ${STRIP} -o ${FOLDER}/stripped.so ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${FOLDER}/stripped.so bytes)
expect_at_most(${bytes} 600000 "all of Tessera::allocate, stripped,")

# Code and data of canonical search and of the greedy engine, without what they share with others.
string(REPLACE "," ";" objects "${ENGINES}")
execute_process(COMMAND ${SIZE} ${objects} OUTPUT_VARIABLE table COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n *[0-9]+[ \t]+[0-9]+" rows "${table}")
set(total 0)
foreach(row IN LISTS rows)
  string(REGEX MATCHALL "[0-9]+" numbers "${row}")
  foreach(number IN LISTS numbers)
    math(EXPR total "${total} + ${number}")
  endforeach()
endforeach()
expect_at_most(${total} 120000 "canonical search and the greedy engine")

execute_process(COMMAND ${READELF} -d ${LIBRARY} OUTPUT_VARIABLE entries COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "NEEDED[^[]*.([^]]*)" needed "${entries}")
foreach(entry IN LISTS needed)
  if(NOT entry MATCHES "lib(stdc\\+\\+|m|gcc_s|c)\\.so|ld-linux")
    message(FATAL_ERROR "Tessera::allocate needs more than the C++ library: ${entry}")
  endif()
endforeach()
