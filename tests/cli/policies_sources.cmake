list(APPEND kv_test_sources cli/policies_test.cpp)
