// Work that threads share. Private to sim/.
#pragma once

#include <cstddef>
#include <functional>

#include "kvcheck/sim/replay/replay_task.h"

namespace kv {

// Calls work(0) ... work(count - 1), each once, on up to `threads` threads, this one among them:
// fewer where the machine gives no more. They are begun in order, and no more once `progress` is
// stopped. An exception of any of them, as when memory ran out, stops the others and is thrown
// here.
void run_in_order(std::size_t count,
                  std::size_t threads,
                  Progress& progress,
                  const std::function<void(std::size_t)>& work);

}  // namespace kv
