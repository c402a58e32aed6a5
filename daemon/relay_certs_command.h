// The command line of `gpuadvised relay-certs` (daemon/tls/relay_certs.h).
#pragma once

namespace gpuadvise::daemon {

// Exit codes: 0 done, 1 not done, 2 bad usage.
int RelayCerts(int argc, char** argv);

}  // namespace gpuadvise::daemon
