list(APPEND kv_test_sources
  traces/dump_test.cpp
  traces/edit_test.cpp
  traces/files.cpp
  traces/format_test.cpp
  traces/mutation_test.cpp
  traces/recorded_test.cpp
  traces/safetensors_test.cpp
  traces/schema_test.cpp
  traces/verify_test.cpp
  traces/writer_test.cpp)
