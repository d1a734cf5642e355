# install: the public headers under include/kvcheck, one static library per room, and a package config
# with components, so that find_package(kvcheck COMPONENTS sim) gives another project kvcheck::sim.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
include(kvcheck_components)
include(kvcheck_public_headers)

# kvcheck::conformance: all of properties/ and kvcheck_main
# (properties/conformance/conformance.h), whose command line lives in cli/check.
add_library(kv_conformance INTERFACE)
add_library(kvcheck::conformance ALIAS kv_conformance)
set_target_properties(kv_conformance PROPERTIES EXPORT_NAME conformance)
target_link_libraries(kv_conformance INTERFACE kv_cli_check kv_properties)
list(APPEND KVCHECK_conformance_LAYERS conformance)

get_property(rooms GLOBAL PROPERTY KVCHECK_ROOMS)
foreach(component IN LISTS KVCHECK_COMPONENTS)
  set(targets ${KVCHECK_${component}_LAYERS})
  list(TRANSFORM targets PREPEND kv_)
  foreach(pattern IN LISTS KVCHECK_${component}_ROOMS)
    foreach(room IN LISTS rooms)
      if(room MATCHES "^${pattern}$")
        kv_target_names(name ${room})
        list(APPEND targets kv_${name})
      endif()
    endforeach()
  endforeach()
  install(TARGETS ${targets} EXPORT kvcheck-${component}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvcheck)
  install(EXPORT kvcheck-${component} NAMESPACE kvcheck::
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
endforeach()

install(TARGETS kvcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(KVCHECK_MPI)
  install(TARGETS kvcheck_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kvcheck)
endif()
foreach(header IN LISTS KVCHECK_PUBLIC_HEADERS)
  cmake_path(GET header PARENT_PATH folder)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/${folder})
endforeach()
install(FILES "${PROJECT_BINARY_DIR}/generated/kvcheck/base/version.h"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kvcheck/base)
set(python "${CMAKE_INSTALL_DATADIR}/kvcheck/python")
install(DIRECTORY python/kvcheck DESTINATION "${python}"
        FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
if(KVCHECK_PYTHON)
  install(TARGETS kvcheck_python LIBRARY DESTINATION "${python}/kvcheck" OPTIONAL)
endif()
# In the folders of the sources, so that documents find each other.
install(FILES LICENSE README.md GLOSSARY.md CHANGELOG.md SECURITY.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(FILES traces/FORMAT.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/traces OPTIONAL)
install(FILES reports/SCHEMA.md DESTINATION ${CMAKE_INSTALL_DOCDIR}/reports OPTIONAL)
install(FILES properties/ABI.md properties/HISTORY.md properties/PROTOCOL.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR}/properties OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR}
        OPTIONAL FILES_MATCHING PATTERN "*.md" PATTERN "*.json" PATTERN "*.png")

# Manual pages and completions come from the program itself, which a machine of another kind cannot
# run.
if(NOT CMAKE_CROSSCOMPILING)
  install(CODE "
    set(program \"$<TARGET_FILE:kvcheck>\")
    set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
    set(pages \"\${root}/${CMAKE_INSTALL_MANDIR}/man1\")
    file(MAKE_DIRECTORY \"\${pages}\")
    execute_process(COMMAND \"\${program}\" man -o \"\${pages}\" COMMAND_ERROR_IS_FATAL ANY)
    foreach(place IN ITEMS bash:bash-completion/completions/kvcheck
                           zsh:zsh/site-functions/_kvcheck
                           fish:fish/vendor_completions.d/kvcheck.fish)
      string(REPLACE \":\" \";\" place \"\${place}\")
      list(GET place 0 shell)
      list(GET place 1 file)
      set(file \"\${root}/${CMAKE_INSTALL_DATADIR}/\${file}\")
      cmake_path(GET file PARENT_PATH folder)
      file(MAKE_DIRECTORY \"\${folder}\")
      execute_process(COMMAND \"\${program}\" completion \${shell} OUTPUT_FILE \"\${file}\"
                      COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
endif()

configure_package_config_file(
  cmake/kvcheck-config.cmake.in "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kvcheck-config.cmake"
              "${PROJECT_BINARY_DIR}/kvcheck-config-version.cmake"
              cmake/kvcheck_components.cmake cmake/kvcheck_discover_tests.cmake
              cmake/kvcheck_list_tests.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kvcheck)
