// Files that are read again when they change, and those that only the daemon may read: keys.
// Blocking, quick; from any thread.
#pragma once

#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

// Changes whenever the file does. Errors: kUnavailable: there is no such file.
Result<std::string> StampOf(const std::string& file);

// The same of a file that other users may neither read nor change, nor its group change. Errors:
// kUnavailable also where they may, with the remedy.
Result<std::string> StampOfSecret(const std::string& file);

}  // namespace gpuadvise::daemon
