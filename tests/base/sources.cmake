list(APPEND kv_test_sources
  base/bytes_test.cpp
  base/error_test.cpp
  base/file_test.cpp
  base/half_test.cpp
  base/json_text_test.cpp
  base/kernels_scalar_test.cpp
  base/kernels_test.cpp
  base/printable_test.cpp
  base/rng_test.cpp
  base/token_class_test.cpp
  base/words_test.cpp)
