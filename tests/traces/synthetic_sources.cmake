list(APPEND kv_test_sources
  traces/synthetic_helpers.cpp traces/synthetic_plants_test.cpp traces/synthetic_qkv_test.cpp
  traces/save_test.cpp traces/synthetic_spec_test.cpp traces/synthetic_test.cpp)
