# SPDX-License-Identifier: Apache-2.0
# Tessera::plan_static: the whole library as one archive. Programs that link it also link the libraries that the
# archives of the modules use.

# The archives that the library consists of.
set(pending tessera_explore tessera_api)
set(modules "")
while(pending)
  list(POP_FRONT pending name)
  if(name IN_LIST modules OR NOT name MATCHES "^tessera_")
    continue()
  endif()
  get_target_property(type ${name} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    get_target_property(links ${name} INTERFACE_LINK_LIBRARIES)
  else()
    list(APPEND modules ${name})
    get_target_property(links ${name} LINK_LIBRARIES)
  endif()
  if(links)
    list(APPEND pending ${links})
  endif()
endwhile()

get_target_property(sources tessera_shared SOURCES)
list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/api/)
list(TRANSFORM modules REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
add_library(tessera_static STATIC ${sources} ${objects})
add_library(Tessera::plan_static ALIAS tessera_static)
tessera_target(tessera_static PRIVATE)
target_include_directories(tessera_static PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/api/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(tessera_static INTERFACE cxx_std_17)

# What the modules link, by Debian's names.
set(names fmt yaml-cpp sqlite3 cadical)
if(TESSERA_Z3)
  list(APPEND names z3)
endif()
if(TESSERA_ONNX)
  list(APPEND names onnx onnx_proto protobuf)
endif()
target_link_libraries(tessera_static INTERFACE ${names})
list(TRANSFORM names PREPEND -l OUTPUT_VARIABLE TESSERA_PRIVATE_LIBRARIES)
list(JOIN TESSERA_PRIVATE_LIBRARIES " " TESSERA_PRIVATE_LIBRARIES)
set_target_properties(tessera_static PROPERTIES OUTPUT_NAME tessera EXPORT_NAME plan_static
  ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
