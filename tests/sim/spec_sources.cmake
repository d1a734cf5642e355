list(APPEND kv_test_sources
  sim/presets_test.cpp
  sim/spec_options_test.cpp
  sim/spec_test.cpp
  sim/spec_top_pages_test.cpp
  sim/spec_vectors_test.cpp)
