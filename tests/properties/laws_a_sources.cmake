list(APPEND kv_test_sources
  properties/laws_a_relations_test.cpp
  properties/laws_a_test.cpp
  properties/merit_test.cpp
  properties/no_false_alarm_test.cpp
  properties/stateful_test.cpp
  properties/told_test.cpp
  properties/veiled_family.cpp)
