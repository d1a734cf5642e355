list(APPEND kv_test_sources traces/recorded_test.cpp)
