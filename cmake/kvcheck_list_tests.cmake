# kvcheck_discover_tests runs this script. It makes PROGRAM list its tests and writes them to FILE.
execute_process(COMMAND "${PROGRAM}" --list-tests
                OUTPUT_VARIABLE lines RESULT_VARIABLE status ERROR_VARIABLE words)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${PROGRAM} --list-tests ended with ${status}\n${words}")
endif()
string(REGEX MATCHALL "[^\n]+" lines "${lines}")
set(text "")
foreach(line IN LISTS lines)
  string(REGEX MATCH "^([^ ]+) ([^ ]+)$" matched "${line}")
  set(name "${TARGET}.${CMAKE_MATCH_1}.${CMAKE_MATCH_2}")
  string(APPEND text
         "add_test([=[${name}]=] [=[${PROGRAM}]=] [=[${CMAKE_MATCH_1}]=] --law [=[${CMAKE_MATCH_2}]=])\n"
         "set_tests_properties([=[${name}]=] PROPERTIES SKIP_RETURN_CODE 77")
  foreach(word IN LISTS PROPERTIES)
    string(APPEND text " [=[${word}]=]")
  endforeach()
  string(APPEND text ")\n")
endforeach()
file(WRITE "${FILE}" "${text}")
