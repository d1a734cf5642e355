# kvcheck_discover_tests(<target> [PROPERTIES <name> <value>...])
#
# Adds one CTest test for each law and each subject that <target> registers with KVCHECK_SUBJECT.
# Its name is <target>.<subject>.<law>. The program lists its tests after it is built. A law that is
# not applicable to a subject is reported as skipped.
set(_kvcheck_list_tests "${CMAKE_CURRENT_LIST_DIR}/kvcheck_list_tests.cmake")

function(kvcheck_discover_tests target)
  cmake_parse_arguments(ARG "" "" "PROPERTIES" ${ARGN})
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${target}_laws.cmake")
  add_custom_command(TARGET ${target} POST_BUILD
    BYPRODUCTS "${file}"
    COMMAND "${CMAKE_COMMAND}" "-DPROGRAM=$<TARGET_FILE:${target}>" "-DTARGET=${target}"
            "-DFILE=${file}" "-DPROPERTIES=${ARG_PROPERTIES}" -P "${_kvcheck_list_tests}"
    VERBATIM)
  # CTest reads this file. Until the target is built, it has a single test that fails with its name.
  set(include "${CMAKE_CURRENT_BINARY_DIR}/${target}_laws_include.cmake")
  file(WRITE "${include}"
       "if(EXISTS \"${file}\")\n  include(\"${file}\")\nelse()\n"
       "  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include}")
endfunction()
