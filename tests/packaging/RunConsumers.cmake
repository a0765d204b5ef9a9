# SPDX-License-Identifier: Apache-2.0
# Installs a build into a folder of its own; configures, builds and runs programs that use what was installed, by
# find_package and by pkg-config; and compares their plans with each other.
#   cmake -DBUILD=build/release -DSOURCE=. -DFOLDER=scratch -DGENERATOR=Ninja -DC=cc -DCXX=c++ [-DPKG_CONFIG=pkg-config] [-DSTATIC=ON] -P RunConsumers.cmake
function(run)
  execute_process(COMMAND ${ARGN} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
endfunction()

set(consumer ${SOURCE}/tests/packaging/find_package)
set(inputs ${SOURCE}/examples/networks/mobilenet_v2.yaml ${SOURCE}/hw_profiles/edge_npu_1mib.yaml)
file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/installed)
if(STATIC)
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/installed --component libtessera-static)
endif()
foreach(private base graph search cli parts)
  if(EXISTS ${FOLDER}/installed/include/tessera/${private})
    message(FATAL_ERROR "include/tessera/${private} is private and was installed")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${consumer} -B ${FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${FOLDER}/installed
    -DCMAKE_C_COMPILER=${C} -DCMAKE_CXX_COMPILER=${CXX})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/plan_cpp ${inputs} ${FOLDER}/cpp.json)
run(${FOLDER}/build/plan_c ${inputs} ${FOLDER}/c.json)
run(${FOLDER}/build/allocate_cpp)
run(${CMAKE_COMMAND} -E compare_files ${FOLDER}/cpp.json ${FOLDER}/c.json)
if(STATIC)
  run(${FOLDER}/build/plan_static_cpp ${inputs} ${FOLDER}/static.json)
  run(${CMAKE_COMMAND} -E compare_files ${FOLDER}/cpp.json ${FOLDER}/static.json)
endif()

if(PKG_CONFIG)
  file(GLOB_RECURSE description ${FOLDER}/installed/tessera.pc)
  cmake_path(GET description PARENT_PATH description_folder)
  set(ENV{PKG_CONFIG_PATH} ${description_folder})
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs --define-prefix tessera OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  cmake_path(GET description_folder PARENT_PATH libraries)
  run(${CXX} -std=c++17 ${consumer}/plan.cc ${flags} -Wl,-rpath,${libraries} -o ${FOLDER}/plan)
  run(${FOLDER}/plan ${inputs} ${FOLDER}/pc.json)
  run(${CMAKE_COMMAND} -E compare_files ${FOLDER}/cpp.json ${FOLDER}/pc.json)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs --define-prefix tessera-allocate OUTPUT_VARIABLE flags
    OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${CXX} -std=c++17 ${consumer}/allocate.cc ${flags} -Wl,-rpath,${libraries} -o ${FOLDER}/allocate)
  run(${FOLDER}/allocate)
endif()
