// Memory for ICU when there is none left.
#pragma once

namespace kv::model {

// Gives ICU a reserve of 1 MiB for the moment when the C library has no more memory. Without it,
// ICU 72 dies of a null pointer if memory runs out while it compiles a regular expression. With it,
// ICU finishes, and the lack of memory is met, and reported, by the next allocation of the caller.
//
// For programs: it sets ICU's allocator for the whole process (u_setMemoryFunctions), and so must
// be called before all other uses of ICU. Does nothing if it comes too late.
void reserve_memory_for_icu();

}  // namespace kv::model
