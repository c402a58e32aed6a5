#include "daemon/remote/identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/words.h"
#include "common/munge/munge.h"

namespace gpuadvise::daemon {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kMunge = "Munge ";
constexpr size_t kNonceDigits = 32;

// A user of another host, who is never root here.
Peer RemoteUser(const Peer& peer, int64_t uid) {
  Peer user = peer;
  user.shown_uid = uid;
  if (uid == 0) {
    user.why_anonymous = "root of another host has no rights here; what everybody may see is shown";
    return user;
  }
  user.uid = user.caller = uid;
  user.anonymous = false;
  return user;
}

Result<Peer> ByToken(const std::string& token, const Peer& peer, const IdentityRules& rules,
                     UserNames& users, UnixSeconds now) {
  if (rules.tokens == nullptr) {
    return BadInput("this daemon takes no tokens; its site may set listen_tls.jwt_key", "");
  }
  const Result<std::string> name = rules.tokens->UserOf(token, now);
  if (!name) return tl::unexpected<Error>(name.error());
  const std::optional<int64_t> uid = IsLoginName(*name) ? users.UidOf(*name) : std::nullopt;
  if (uid) return RemoteUser(peer, *uid);
  return BadInput(fmt::format("the token is of {}, whom the daemon's host does not know",
                              Quoted(Shortened(*name, kMaxQuotedBytes))),
                  "");
}

bool IsNonce(std::string_view text) {
  return text.size() == kNonceDigits && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

Result<Peer> ByMunge(const std::string& credential, const ApiRequest& header, const Peer& peer,
                     const IdentityRules& rules) {
  if (!rules.munge) {
    return BadInput("this daemon takes no munge credentials; its site may set listen_tls.munge",
                    "");
  }
  if (!IsNonce(header.nonce)) {
    return BadInput(
        "a munge credential needs the header Gpuadvise-Nonce with 32 lower-case "
        "hexadecimal digits",
        "");
  }
  Result<MungeProof> proof = ReadCredential(credential, rules.munge_socket);
  if (!proof) return tl::unexpected<Error>(std::move(proof.error()));
  Peer user = RemoteUser(peer, proof->uid);
  user.signed_for = std::move(proof->payload);
  return user;
}

}  // namespace

Result<Peer> IdentityOf(const ApiRequest& header, const Peer& peer, const IdentityRules& rules,
                        UserNames& users, UnixSeconds now) {
  const std::string& shown = header.authorization;
  if (shown.empty()) return peer;
  if (shown.starts_with(kBearer)) {
    return ByToken(shown.substr(kBearer.size()), peer, rules, users, now);
  }
  if (shown.starts_with(kMunge)) {
    return ByMunge(shown.substr(kMunge.size()), header, peer, rules);
  }
  return BadInput("Authorization is neither \"Bearer TOKEN\" nor \"Munge CREDENTIAL\"", "");
}

bool SignedFor(const ApiRequest& request, const Peer& peer) {
  if (!peer.signed_for) return true;
  return *peer.signed_for == MungePayload(request.is_head ? "HEAD" : request.method, request.target,
                                          request.nonce, request.body);
}

}  // namespace gpuadvise::daemon
