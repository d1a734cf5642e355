list(APPEND kv_test_sources properties/statistics_chance_test.cpp)
