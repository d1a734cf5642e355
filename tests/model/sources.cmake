list(APPEND kv_test_sources
  model/attend_kernels_test.cpp
  model/bundled_test.cpp
  model/decoder_test.cpp
  model/evaluate_test.cpp
  model/forward_test.cpp
  model/kernels_test.cpp
  model/onnx_files.cpp
  model/onnx_test.cpp
  model/recall_test.cpp
  model/record_test.cpp
  model/small_models.cpp
  model/token_sampler_test.cpp
  model/tokenizer_test.cpp
  model/turn_kernels_test.cpp
  model/weights_test.cpp
  model/word_tokenizer_test.cpp)
