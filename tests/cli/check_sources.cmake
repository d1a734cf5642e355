list(APPEND kv_test_sources cli/check_test.cpp cli/selftest_test.cpp)
