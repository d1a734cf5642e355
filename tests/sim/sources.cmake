list(APPEND kv_test_sources
  sim/budgets_test.cpp
  sim/closed_loop_test.cpp
  sim/dense_rows_test.cpp
  sim/numpy_test.cpp
  sim/oracle_law_test.cpp
  sim/oracle_test.cpp
  sim/reductions_test.cpp
  sim/replay_test.cpp
  sim/serves_test.cpp
  sim/sizes_test.cpp
  sim/slots_test.cpp
  sim/top_k_test.cpp
  sim/unit_cache_test.cpp
  sim/visible_limits_test.cpp
  sim/worked_examples_test.cpp
  sim/wrong_victims_test.cpp)
