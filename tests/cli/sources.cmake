list(APPEND kv_test_sources
  cli/command_test.cpp
  cli/model_commands_test.cpp
  cli/options_test.cpp
  cli/program_test.cpp
  cli/progress_test.cpp
  cli/replay_test.cpp
  cli/run.cpp
  cli/speed_test.cpp
  cli/sweep_test.cpp
  cli/trace_generate_test.cpp
  cli/trace_test.cpp)
