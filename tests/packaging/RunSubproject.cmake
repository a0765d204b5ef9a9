# SPDX-License-Identifier: Apache-2.0
# Configures a project that includes Tessera, and with -DRUN=ON builds and runs its program.
#   cmake -DCONSUMER=tests/packaging/add_subdirectory -DSOURCE=. -DFOLDER=scratch -DGENERATOR=Ninja \
#         -DC=cc -DCXX=c++ [-DRUN=ON] -P RunSubproject.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${FOLDER} -G ${GENERATOR} -DCMAKE_BUILD_TYPE=Release
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX}
    -DTESSERA_SOURCE=${SOURCE} -DFETCHCONTENT_SOURCE_DIR_TESSERA=${SOURCE} --no-warn-unused-cli)
if(RUN)
  run(${CMAKE_COMMAND} --build ${FOLDER} --target allocate_cpp plan_cpp)
  run(${FOLDER}/allocate_cpp)
  run(${FOLDER}/plan_cpp ${SOURCE}/examples/networks/patent_chain.yaml ${SOURCE}/hw_profiles/edge_npu_1mib.yaml
      ${FOLDER}/plan.json)
endif()
