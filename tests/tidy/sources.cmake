list(APPEND kv_test_sources
  tidy/include_rules.cpp tidy/objects_test.cpp tidy/source_tree.cpp tidy/text_rules.cpp
  tidy/tidy_test.cpp tidy/type_rules.cpp tidy/types_test.cpp)
