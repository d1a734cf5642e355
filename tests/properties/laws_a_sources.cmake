list(APPEND kv_test_sources
  properties/no_false_alarm_test.cpp)
