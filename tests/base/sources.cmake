list(APPEND kv_test_sources base/rng_test.cpp)
