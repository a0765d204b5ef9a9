# SPDX-License-Identifier: Apache-2.0
# Builds the command and the library without ONNX and Z3. Both must work, name neither of the two
# and load neither library.
#   cmake -DSOURCE=. -DFOLDER=scratch -DGENERATOR=Ninja -DC=cc -DCXX=c++ -P RunReduced.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE code)
  set(output "${output}" PARENT_SCOPE)
  set(code ${code} PARENT_SCOPE)
endfunction()

function(expect wanted)
  if(NOT code EQUAL wanted)
    message(FATAL_ERROR "expected exit code ${wanted}, found ${code}:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} -S ${SOURCE} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX}
    -DTESSERA_ONNX=OFF -DTESSERA_Z3=OFF -DTESSERA_TESTS=OFF -DTESSERA_PYTHON=)
expect(0)
run(${CMAKE_COMMAND} --build ${FOLDER} --target tessera tessera_shared)
expect(0)

set(network ${SOURCE}/examples/networks/patent_chain.yaml)
set(profile ${SOURCE}/hw_profiles/edge_npu_1mib.yaml)
run(${FOLDER}/bin/tessera plan ${network} --hw ${profile})
expect(0)
if(NOT output MATCHES "score 2 754")
  message(FATAL_ERROR "another plan than that of the whole build:\n${output}")
endif()
run(${FOLDER}/bin/tessera plan ${network} --hw ${profile} --engine z3)
expect(2)
run(${FOLDER}/bin/tessera plan ${SOURCE}/absent.onnx --hw ${profile})
if(code EQUAL 0)
  message(FATAL_ERROR "an ONNX file was read")
endif()
run(${FOLDER}/bin/tessera --version --verbose)
expect(0)
if(output MATCHES "[Oo][Nn][Nn][Xx]|[Zz]3|protobuf")
  message(FATAL_ERROR "the build names what it lacks:\n${output}")
endif()
foreach(file ${FOLDER}/bin/tessera ${FOLDER}/lib/libtessera.so)
  run(ldd ${file})
  expect(0)
  if(output MATCHES "libonnx|libprotobuf|libz3")
    message(FATAL_ERROR "${file} loads a library that it was built without:\n${output}")
  endif()
endforeach()
