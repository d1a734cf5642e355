list(APPEND kv_test_sources
  install/examples_test.cpp
  install/install_test.cpp
  install/prefix.cpp)
