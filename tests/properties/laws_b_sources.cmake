list(APPEND kv_test_sources
  properties/laws_b_right_test.cpp
  properties/laws_b_test.cpp)
