# install: headers under include/kvcheck, one static library per layer, and a package config, so that
# find_package(kvcheck) gives another project the targets kvcheck::sim, kvcheck::policies and so on.
# The command line is a program, not a library: cli/ is not exported.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY KVCHECK_LAYERS)
list(REMOVE_ITEM layers cli)
list(TRANSFORM layers PREPEND kv_ OUTPUT_VARIABLE layer_targets)
install(TARGETS ${layer_targets} EXPORT kvcheck-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvcheck)
install(TARGETS kvcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(layer IN LISTS layers)
  install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/${layer}
          FILES_MATCHING PATTERN "*.h" PATTERN "*_detail.h" EXCLUDE)
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/generated/base/version.h"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/base)
install(FILES LICENSE README.md CHANGELOG.md traces/FORMAT.md reports/SCHEMA.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)

install(EXPORT kvcheck-targets NAMESPACE kvcheck:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
configure_package_config_file(
  cmake/kvcheck-config.cmake.in "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
              "${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
