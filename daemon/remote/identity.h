// Who asks over TLS: whose token or munge credential a request carries, or nobody in particular.
//
// What is shown and not believed is refused, never taken for a caller without a name: that would
// answer another question than was asked, without a word.
#pragma once

#include <string>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "daemon/base/api_types.h"
#include "daemon/base/system.h"
#include "daemon/remote/tokens.h"

namespace gpuadvise::daemon {

struct IdentityRules {
  const Tokens* tokens = nullptr;  // nullptr: none is taken
  bool munge = false;
  std::string munge_socket = {};
};

// By the header of a request; a munge credential counts only once SignedFor() is true, too. May
// block on munged and on a directory service. Errors: as HttpIdentify's.
Result<Peer> IdentityOf(const ApiRequest& header, const Peer& peer, const IdentityRules& rules,
                        UserNames& users, UnixSeconds now);

// Whether the munge credential of `peer`, if that showed one, was made for this request.
bool SignedFor(const ApiRequest& request, const Peer& peer);

}  // namespace gpuadvise::daemon
