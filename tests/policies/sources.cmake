list(APPEND kv_test_sources
  policies/laws_test.cpp
  policies/ranking_test.cpp
  policies/registry_test.cpp
  policies/reservoir_test.cpp
  policies/state_test.cpp)
