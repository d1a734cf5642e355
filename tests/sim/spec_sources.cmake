list(APPEND kv_test_sources sim/spec_test.cpp)
