# install: headers under include/kvcheck, one static library per layer, and a package config, so that
# find_package(kvcheck) gives another project the targets kvcheck::sim, kvcheck::policies and so on.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY KVCHECK_LAYERS)
list(TRANSFORM layers PREPEND kv_ OUTPUT_VARIABLE layer_targets)
install(TARGETS ${layer_targets} EXPORT kvcheck-targets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvcheck)
install(TARGETS kvcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
foreach(layer IN LISTS layers)
  if(NOT layer STREQUAL "cli")
    install(DIRECTORY ${layer}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/${layer}
            FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
install(DIRECTORY "${PROJECT_BINARY_DIR}/generated/base/"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/base FILES_MATCHING PATTERN "*.h")

install(EXPORT kvcheck-targets NAMESPACE kvcheck:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
configure_package_config_file(
  cmake/kvcheck-config.cmake.in "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
              "${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
