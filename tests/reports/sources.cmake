list(APPEND kv_test_sources
  reports/bounds_test.cpp
  reports/closed_loop_test.cpp
  reports/export_test.cpp
  reports/fake_replay.cpp
  reports/inclusion_test.cpp
  reports/kill_matrix_test.cpp
  reports/loss_log_test.cpp
  reports/report_test.cpp
  reports/results_errors_test.cpp
  reports/results_test.cpp reports/schema_doc_test.cpp
  reports/statistics_test.cpp
  reports/tables_test.cpp
  reports/timing_test.cpp)
