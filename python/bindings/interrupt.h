// Ctrl-C while C++ runs: where Python code runs too, Python's own handler is left in place and
// raises in that code; elsewhere the program's handler notes the signal.
#pragma once

namespace kv::python {

// Notes that the call which this thread makes was interrupted.
void note_interrupt();

// Whether Ctrl-C was pressed: Python's own handler runs now if this is its first thread. Takes
// Python's lock, so ask no more than some times a second. The answer is yes once.
bool asked_to_stop();

// Whether this thread noted one since it last took it.
bool is_interrupt_noted();
bool take_interrupt();

}  // namespace kv::python
