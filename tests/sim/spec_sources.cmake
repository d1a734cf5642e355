list(APPEND kv_test_sources sim/spec_test.cpp sim/spec_vectors_test.cpp)
