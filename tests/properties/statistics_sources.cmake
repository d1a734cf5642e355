list(APPEND kv_test_sources
  properties/statistics_chance_test.cpp
  properties/statistics_exact_test.cpp
  properties/statistics_laws_test.cpp
  properties/statistics_sampler_test.cpp
  properties/statistics_sequential_test.cpp)
