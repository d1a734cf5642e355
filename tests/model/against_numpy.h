// The decoder compared with the forward passes of tests/model/reference_model.py.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "kvcheck/model/decoder/decoder.h"
#include "kvcheck/tests/model/small_models.h"

namespace kv::model {

// One run of a decoder; the reference runs over all keys under the mask of what the decoder says it
// saw.
struct NumpyCase {
  std::string spec;
  DecoderOptions options{};
  double bound = 2e-5;  // of the largest difference, relative to the largest logit
  std::size_t tokens = 32;
};

// Whether the reference agrees on every case. If `report_lies`, the file says that positions
// are absolute, whatever they are.
bool agrees(const test::SmallModel& small,
            const std::vector<NumpyCase>& cases,
            bool report_lies = false);

// The same for a model that is open, and a directory with the same weights in f32.
bool agrees(const std::string& folder,
            const LanguageModel& model,
            const std::vector<NumpyCase>& cases,
            bool report_lies = false);

// Runs a script of tests/model with the python that has numpy; whether it exits with 0.
bool run_python(const std::string& script, const std::string& arguments);

// Skips where there is no python3 with numpy.
class NumpyTest : public testing::Test {
 protected:
  void SetUp() override;
};

}  // namespace kv::model
