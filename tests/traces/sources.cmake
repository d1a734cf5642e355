list(APPEND kv_test_sources
  traces/files.cpp
  traces/recorded_test.cpp
  traces/safetensors_test.cpp
  traces/schema_test.cpp)
