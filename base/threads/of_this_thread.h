// An object for each thread.
#pragma once

#include <pthread.h>

#include <memory>
#include <new>

namespace kv {

// This thread's T, made by T() when the thread first asks for one, and destroyed when the thread
// ends. Throws std::bad_alloc if memory or keys of POSIX threads run out; another call may succeed
// then. A `thread_local T` does not throw: the C library ends the program if no memory is left to
// note the destructor. Requires that no destructor of the thread's other objects calls it.
// Costs a comparison once the object is there.
template <typename T>
T& of_this_thread() {
  thread_local T* mine = nullptr;
  if (mine != nullptr) return *mine;
  static const pthread_key_t key = [] {
    pthread_key_t made{};
    const auto destroy = [](void* held) { const std::unique_ptr<T> owned(static_cast<T*>(held)); };
    if (pthread_key_create(&made, destroy) != 0) throw std::bad_alloc();
    return made;
  }();
  auto made = std::make_unique<T>();
  if (pthread_setspecific(key, made.get()) != 0) throw std::bad_alloc();
  mine = made.release();
  return *mine;
}

}  // namespace kv
