list(APPEND kv_test_sources
  reports/fake_replay.cpp
  reports/results_errors_test.cpp
  reports/results_test.cpp)
