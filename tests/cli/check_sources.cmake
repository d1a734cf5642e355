list(APPEND kv_test_sources cli/check_test.cpp)
