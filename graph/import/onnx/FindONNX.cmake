# SPDX-License-Identifier: Apache-2.0
# Finds the ONNX library with its protobuf messages. Debian's own CMake package points at folders that do not exist. Defines
# the imported target ONNX::ONNX.

find_path(ONNX_INCLUDE_DIR onnx/onnx_pb.h)
find_library(ONNX_LIBRARY onnx)
find_library(ONNX_PROTO_LIBRARY onnx_proto)
find_package(Protobuf QUIET)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(ONNX REQUIRED_VARS ONNX_LIBRARY ONNX_PROTO_LIBRARY ONNX_INCLUDE_DIR Protobuf_FOUND)

if(ONNX_FOUND AND NOT TARGET ONNX::ONNX)
  add_library(ONNX::ONNX UNKNOWN IMPORTED GLOBAL)  # programs link it from other folders
  set_target_properties(ONNX::ONNX PROPERTIES
    IMPORTED_LOCATION ${ONNX_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${ONNX_INCLUDE_DIR}
    # How the packaged library was compiled; its headers choose names and messages by these.
    INTERFACE_COMPILE_DEFINITIONS "ONNX_NAMESPACE=onnx;ONNX_ML=1"
    INTERFACE_LINK_LIBRARIES "${ONNX_PROTO_LIBRARY};protobuf::libprotobuf")
endif()
mark_as_advanced(ONNX_INCLUDE_DIR ONNX_LIBRARY ONNX_PROTO_LIBRARY)
