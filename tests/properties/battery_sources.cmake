list(APPEND kv_test_sources
  properties/battery_test.cpp
  properties/campaign_test.cpp
  properties/faulty_family.cpp
  properties/generate_test.cpp
  properties/grown_test.cpp
  properties/picture_test.cpp
  properties/report_writers_test.cpp
  properties/reproduce_test.cpp
  properties/selftest_test.cpp
  properties/shrink_test.cpp
  properties/survival_test.cpp)
