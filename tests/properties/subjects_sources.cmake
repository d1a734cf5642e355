list(APPEND kv_test_sources
  properties/spec_subject_test.cpp)
