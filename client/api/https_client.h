// One request to a daemon on another host, over TLS, as the user whom a token or munge proves.
#pragma once

#include <chrono>
#include <functional>
#include <string>

#include "client/api/daemon_address.h"
#include "client/api/http_client.h"
#include "common/base/error.h"

namespace gpuadvise::client {

// The token is that of the address's token_file, else of SLURM_JWT (`scontrol token`); without one
// munge says who asks, and where there is no munge nobody in particular does. Where the daemon
// takes no munge it is asked again as by nobody, and `say` is called with a sentence. Errors:
// kUnavailable as AskOverUnixSocket(); kBadInput: a token file that cannot be read.
Result<HttpAnswer> AskOverHttps(const DaemonAddress& address, const HttpRequest& request,
                                std::chrono::milliseconds timeout,
                                const std::function<void(const std::string&)>& say);

}  // namespace gpuadvise::client
