// A recorded cluster as a source: output of gpuadvise-collect, one batch per Step().
//
// Times stay as recorded. After the last batch, each Step() returns the last snapshot unchanged. A
// recorded error record becomes an error of its Step().
#pragma once

#include <string>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {

// Opens `path`. Errors: kNotFound or kBadInput with the file. Step() fails with kBadInput and
// "FILE:LINE: …" at a line that is not a record and if the file ends inside a batch.
SourceResult MakeReplaySource(const std::string& path);

}  // namespace gpuadvise::collect
