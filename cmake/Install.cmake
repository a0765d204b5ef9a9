# What `cmake --install` copies, in two components: `command` is the command with its manual, completions and the
# shipped profiles; `library` the library with its headers and what find_package and pkg-config read. `cpack` makes a
# Debian package of each (scripts/package).
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Tessera)
install(TARGETS tessera COMPONENT command)
install(DIRECTORY ${TESSERA_DESCRIPTIONS}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command
  FILES_MATCHING PATTERN "*.1" PATTERN bash EXCLUDE PATTERN zsh EXCLUDE PATTERN fish EXCLUDE)
foreach(completion bash/tessera=bash-completion/completions zsh/_tessera=zsh/vendor-completions
        fish/tessera.fish=fish/vendor_completions.d)
  string(REPLACE "=" ";" completion ${completion})
  list(POP_FRONT completion file)
  install(FILES ${TESSERA_DESCRIPTIONS}/${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${completion} COMPONENT command)
endforeach()
install(TARGETS tessera_shared EXPORT TesseraTargets COMPONENT library)
install(FILES ${TESSERA_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera COMPONENT library)
install(FILES api/c/tessera.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tessera/c COMPONENT library)
install(DIRECTORY hw_profiles/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tessera/hw_profiles COMPONENT command FILES_MATCHING PATTERN "*.yaml")

configure_package_config_file(cmake/TesseraConfig.cmake.in TesseraConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(TesseraConfigVersion.cmake COMPATIBILITY SameMinorVersion)
configure_file(cmake/tessera.pc.in tessera.pc @ONLY)
install(EXPORT TesseraTargets NAMESPACE Tessera:: DESTINATION ${package_folder} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/TesseraConfig.cmake ${PROJECT_BINARY_DIR}/TesseraConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/tessera.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/tessera COMPONENT command)
install(FILES LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libtessera-dev COMPONENT library)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The Tessera developers <tessera@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command library)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_LICENSE Apache-2.0)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME tessera)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "Plans the memory of neural accelerators
 The command tessera decides how a network is partitioned into subgraphs, how
 large a tile of each is held on chip, and the address of every buffer.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libtessera-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Plans the memory of neural accelerators: the library
 Headers for C++17 and C99, and the shared library, for compilers and searches.")
include(CPack)
