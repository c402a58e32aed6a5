// Reports uncaught exceptions: the program ends with one sentence on standard error and status 1
// instead of an abort, on any thread.
//
// This covers exhausted memory, threads or descriptors, and bugs. A supervisor (systemd) restarts
// the program.
#pragma once

namespace gpuadvise {

// Call first in main(). `program`: its name; must outlive it.
void ReportUncaughtExceptions(const char* program);

}  // namespace gpuadvise
