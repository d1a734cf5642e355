// How long processes were ready to run while others had the cores, as Linux counts it
// (/proc/PID/schedstat). A busy machine is no fault of a subject, so this is added to its time.
#pragma once

#include <sys/types.h>

namespace kv::properties {

// Seconds of this process; 0 where the system does not say. Calls only what a signal handler may.
double waited_for_cores();

// Seconds of the processes that the group has now, without their further threads. Cost: reads the
// state of every process of the machine.
double group_waited_for_cores(pid_t group);

}  // namespace kv::properties
