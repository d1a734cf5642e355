# install: headers under include/kvcheck, one static library per layer, and a package config, so that
# find_package(kvcheck) gives another project the targets kvcheck::sim, kvcheck::policies and so on.
# The command line is a program; its library has no headers of its own but carries kvcheck_main
# (properties/conformance.h), so it goes along, as kvcheck::conformance.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY KVCHECK_ROOMS)
set(exported base traces policies sim model properties reports)
list(TRANSFORM exported PREPEND kv_)
foreach(room IN LISTS rooms)
  kv_target_names(name ${room})
  list(APPEND exported kv_${name})
  if(NOT room MATCHES "^cli")
    install(DIRECTORY ${room}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/${room}
            FILES_MATCHING PATTERN "*.h" PATTERN "*_detail.h" EXCLUDE)
  endif()
endforeach()
install(TARGETS ${exported} EXPORT kvcheck-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvcheck)
install(TARGETS kvcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES "${PROJECT_BINARY_DIR}/generated/kvcheck/base/version.h"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/base)
install(FILES python/kvcheck.py python/kvcheck_tensors.py
        DESTINATION ${CMAKE_INSTALL_DATADIR}/kvcheck/python)
install(FILES LICENSE README.md CHANGELOG.md traces/FORMAT.md reports/SCHEMA.md
              properties/ABI.md properties/PROTOCOL.md docs/test-your-cache.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT kvcheck-targets NAMESPACE kvcheck:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
configure_package_config_file(
  cmake/kvcheck-config.cmake.in "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
              "${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
              cmake/kvcheck_discover_tests.cmake cmake/kvcheck_list_tests.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
