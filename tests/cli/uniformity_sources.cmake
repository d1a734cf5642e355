list(APPEND kv_test_sources cli/uniformity_test.cpp)
