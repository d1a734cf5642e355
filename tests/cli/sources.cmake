list(APPEND kv_test_sources cli/trace_test.cpp)
