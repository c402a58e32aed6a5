// `gpuadvised relay-certs`: the certificates that a daemon and its relays know each other by, in
// one folder. Makes what is asked for and missing, renews what soon expires, revokes.
//
//   DIR/ca.crt ca.key        the private authority; nothing else trusts it
//   DIR/revoked.crl          what it has revoked
//   DIR/daemon.crt .key      of the daemon
//   DIR/relays/NAME/         ca.crt, relay.crt and relay.key, as they are copied to host NAME
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/unix_time.h"

namespace gpuadvise::daemon {

struct RelayCertsRequest {
  std::string dir = "/etc/gpuadvise/tls";
  std::vector<std::string> daemon_hosts = {};  // names and addresses it is reached under
  std::vector<std::string> relays = {};        // hosts, or a standby
  std::vector<std::string> revoke = {};        // of those
  std::chrono::hours valid_for{24 * 365};
};

// What expires sooner is renewed.
inline constexpr std::chrono::hours kRenewedBefore{24 * 30};

// Does it and says, line by line, what was done and what to copy where. What is there and good
// stays as it is. Errors: kBadInput: a name that cannot be one, or nothing to revoke; kUnavailable:
// a file.
Result<std::vector<std::string>> MakeRelayCerts(const RelayCertsRequest& request, UnixSeconds now);

}  // namespace gpuadvise::daemon
