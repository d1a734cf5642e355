list(APPEND kv_test_sources install/install_test.cpp)
