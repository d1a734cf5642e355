// Forks of the process while a command of the program runs in it.
//
// A command runs without Python's lock, and `check` forks children that call policies of Python. If
// another thread held the lock at that moment, it would be held for ever in the child, which has no
// other threads. So the thread that forks takes the lock first, and prepares Python as os.fork()
// does.
#pragma once

namespace kv::python {

// While an object of this class exists, forks of this thread leave the child able to run Python.
// Construct it without Python's lock.
class ForksWithLock {
 public:
  ForksWithLock();
  ForksWithLock(const ForksWithLock&) = delete;
  ForksWithLock& operator=(const ForksWithLock&) = delete;
  ~ForksWithLock();

 private:
  bool outer_;  // whether one exists in this thread already: a policy may run a command
};

}  // namespace kv::python
