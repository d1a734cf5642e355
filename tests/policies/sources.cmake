list(APPEND kv_test_sources
  policies/chunkkv_test.cpp
  policies/entry_test.cpp
  policies/fifo_test.cpp
  policies/key_policies_test.cpp
  policies/keyformer_test.cpp
  policies/laws_test.cpp
  policies/lru_test.cpp
  policies/pages_test.cpp
  policies/ranking_test.cpp
  policies/registry_test.cpp
  policies/reservoir_test.cpp
  policies/rkv_test.cpp
  policies/scissorhands_test.cpp
  policies/snapkv_test.cpp
  policies/state_test.cpp
  policies/token_classes_test.cpp
  policies/weighted_reservoir_test.cpp)
