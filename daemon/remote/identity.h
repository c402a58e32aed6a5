// Who asks over TLS: whom a relay names, whose token or munge credential a request carries, or
// nobody in particular.
//
// A name is believed from a certificate that the site lists as a relay's and from nobody else. What
// was shown and is not believed is refused, never taken for a caller without a name: that would
// answer another question than was asked, without a word.
#pragma once

#include <set>
#include <string>

#include "common/base/error.h"
#include "common/base/unix_time.h"
#include "daemon/base/api_types.h"
#include "daemon/base/system.h"
#include "daemon/remote/tokens.h"

namespace gpuadvise::daemon {

struct IdentityRules {
  std::set<std::string> relays = {};    // names of their certificates
  std::set<std::string> standbys = {};  // the same
  const Tokens* tokens = nullptr;       // nullptr: none is taken
  bool munge = false;
  std::string munge_socket = {};
};

// What a credential of munge is made for: "gpuadvise POST /v1/advise".
std::string MungePayload(const ApiRequest& request);

// Whose bounds a relay's request counts for; nullopt: `peer` is no relay, or the request names
// nobody.
std::optional<int64_t> CallerByRelay(const ApiRequest& request, const Peer& peer,
                                     const IdentityRules& rules);

// Whether nothing in the request says who asks: IdentityOf would make it nobody's.
bool IsStrangers(const ApiRequest& request, const Peer& peer, const IdentityRules& rules);

// May block on munged and on a directory service. Errors: kBadInput: why the caller is not believed
// (HTTP 401); kUnavailable: it cannot be found out now.
Result<Peer> IdentityOf(const ApiRequest& request, const Peer& peer, const IdentityRules& rules,
                        UserNames& users, UnixSeconds now);

}  // namespace gpuadvise::daemon
