// The layouts of rotary positions. The header includes nothing else, so that kernels may use it.
#pragma once

namespace kv {

// How pairs of a head's dimensions are rotated.
enum class RopeLayout {
  none,         // no rotation (learned or no positions)
  interleaved,  // pairs (0,1), (2,3), ...: llama2.c, GPT-J
  half,  // pairs (0, r/2), (1, r/2 + 1), ... of the first r dimensions: Llama in Hugging Face, NeoX
};

}  // namespace kv
