list(APPEND kv_test_sources
  properties/conformance_test.cpp
  properties/deaths_test.cpp
  properties/plugin_test.cpp
  properties/process_test.cpp
  properties/remote_test.cpp
  properties/timed_chance_test.cpp
  properties/ways_doc_test.cpp)
