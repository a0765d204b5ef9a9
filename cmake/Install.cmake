# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` copies: the command, the library with its headers, the shipped profiles, and what
# find_package and pkg-config read. Components are the Debian packages that they become (cmake/Packages.cmake).
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(TARGETS tessera COMPONENT tessera)
install(DIRECTORY ${TESSERA_DESCRIPTIONS}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tessera
  FILES_MATCHING PATTERN "*.1" PATTERN bash EXCLUDE PATTERN zsh EXCLUDE PATTERN fish EXCLUDE)
foreach(completion bash/tessera=bash-completion/completions zsh/_tessera=zsh/vendor-completions
        fish/tessera.fish=fish/vendor_completions.d)
  string(REPLACE "=" ";" completion ${completion})
  list(POP_FRONT completion file)
  install(FILES ${TESSERA_DESCRIPTIONS}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${completion} COMPONENT tessera)
endforeach()
set(libraries tessera_shared)
if(TESSERA_ALLOCATE)
  list(APPEND libraries tessera_allocate_shared)
endif()
install(TARGETS ${libraries} EXPORT TesseraTargets
  LIBRARY COMPONENT tessera NAMELINK_COMPONENT libtessera-dev)
install(DIRECTORY hw_profiles/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/hw_profiles COMPONENT tessera
  FILES_MATCHING PATTERN "*.yaml")

# The archive is large: it is installed only as `cmake --install ... --component libtessera-static`.
if(TESSERA_STATIC)
  install(TARGETS tessera_static EXPORT TesseraStaticTargets ARCHIVE COMPONENT libtessera-static EXCLUDE_FROM_ALL)
  install(EXPORT TesseraStaticTargets NAMESPACE Tessera:: DESTINATION ${package_folder}
    COMPONENT libtessera-static EXCLUDE_FROM_ALL)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME libtessera-dev)
install(FILES ${TESSERA_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera)
install(FILES api/c/allocate.h api/c/call.h api/c/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/c)

configure_package_config_file(cmake/TesseraConfig.cmake.in TesseraConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/tessera.pc.in tessera.pc @ONLY)
if(TESSERA_ALLOCATE)
  configure_file(cmake/tessera-allocate.pc.in tessera-allocate.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/tessera-allocate.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
  DESTINATION ${package_folder})
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera COMPONENT tessera)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtessera-dev)
