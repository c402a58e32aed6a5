// A training file in a request: where the caller sends its text (`spec_yaml`) instead of the spec
// that gpuadvise makes of it, it is read here by the same rules.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "common/error.h"
#include "common/snapshot.h"

namespace gpuadvise {

/// Errors about a spec, told with the line of the text they are about.
using Explain = std::function<Error(Error)>;

/// Puts `spec` in the place of `spec_yaml` (and `section`) of `body`, where that is there; `now`
/// resolves a deadline in words. The result tells errors of what is asked with `body` then.
/// Errors: kBadInput, "train.yaml:7: sentence"; also where the text names a file, because the
/// daemon opens no path of a caller.
Result<Explain> TakeSpecText(nlohmann::json& body, UnixSeconds now);

}  // namespace gpuadvise
