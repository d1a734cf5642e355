#include "kvcheck/fuzz/support/inputs.h"
#include "kvcheck/fuzz/support/model_checks.h"
#include "kvcheck/fuzz/targets/targets.h"

namespace kv::fuzz {

bool llama2c(Input input) {
  const Result<model::LanguageModel> opened =
      model::open_model(scratch_file("llama2c.bin", text_of(input)));
  if (!opened) return refused(opened.error());
  try_model(*opened);
  return true;
}

}  // namespace kv::fuzz
