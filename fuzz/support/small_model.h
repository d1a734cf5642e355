// A small language model in memory, and what the program does with any small model.
#pragma once

#include "kvcheck/model/weights/language_model.h"

namespace kv::fuzz {

// 3 layers, width 64, 2 heads of 32 on 1 kv head, a vocabulary of 32, made of random numbers.
const model::LanguageModel& small_model();

}  // namespace kv::fuzz
