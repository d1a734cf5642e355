list(APPEND kv_test_sources
  properties/remote_test.cpp)
