list(APPEND kv_test_sources
  properties/brought_test.cpp
  properties/choice_test.cpp
  properties/mutants_test.cpp
  properties/payload_test.cpp
  properties/plain_subject_test.cpp
  properties/spec_subject_test.cpp
  properties/uneven_budgets_test.cpp)
