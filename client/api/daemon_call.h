// One request to one place of a daemon, as whoever the caller can show to be.
//
// On a Unix socket the kernel says who asks. Over https a token does (SLURM_JWT, else the
// token_file), else a munge credential made for this very request, else nobody in particular asks.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/api/daemon_address.h"
#include "common/base/error.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {

struct DaemonRequest {
  std::string method;  // "GET", "POST"
  std::string target;  // "/v1/gpus"
  std::string body;    // JSON
};

// Where the daemon takes no munge it is asked again as by nobody, and `say` is called with a
// sentence. `place`: one of `daemon`. Errors: kUnavailable with the place and what went wrong
// there, or that munge made the caller somebody else; kBadInput: a token or CA file that cannot be
// read.
Result<HttpAnswer> AskPlace(const std::string& place, const DaemonAddress& daemon,
                            const DaemonRequest& request, std::chrono::milliseconds patience,
                            const std::function<void(const std::string&)>& say);

}  // namespace gpuadvise::client
