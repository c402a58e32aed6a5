#include "daemon/remote/identity.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "munge/munge.h"

namespace gpuadvise::daemon {
namespace {

constexpr std::string_view kBearer = "Bearer ";
constexpr std::string_view kMunge = "Munge ";
// (uid_t)-1 is nobody (POSIX).
constexpr int64_t kLargestUid = 0xfffffffe;
constexpr size_t kLongestHost = 253;

std::optional<int64_t> ParseUid(const std::string& text) {
  int64_t uid = 0;
  const char* end = text.data() + text.size();
  const auto [stop, status] = std::from_chars(text.data(), end, uid);
  if (text.empty() || status != std::errc() || stop != end) return std::nullopt;
  return uid >= 0 && uid <= kLargestUid ? std::optional(uid) : std::nullopt;
}

// Whose bounds the user of a relay counts for.
int64_t RelayedCaller(const ApiRequest& request, int64_t uid) {
  return ParseUid(request.relayed_caller).value_or(uid);
}

Peer User(const Peer& peer, int64_t uid) {
  Peer user = peer;
  user.uid = uid;
  user.anonymous = false;
  user.is_remote = true;
  return user;
}

// A user of another host, who is never root here.
Peer RemoteUser(const Peer& peer, int64_t uid) {
  if (uid != 0) return User(peer, uid);
  Peer nobody = peer;
  nobody.why_anonymous = "root of another host has no rights here; what everybody may see is shown";
  return nobody;
}

Result<Peer> Relayed(const ApiRequest& request, const Peer& peer, const IdentityRules& rules) {
  if (!rules.relays.contains(peer.certificate)) {
    return BadInput(
        peer.certificate.empty()
            ? "only a relay may say for whom it asks, and this connection shows no certificate"
            : fmt::format("the certificate of {} is not of a relay that this daemon knows; add it "
                          "to remote.relays in gpuadvised.yaml",
                          Quoted(Shortened(peer.certificate, kMostQuotedBytes))),
        "");
  }
  const std::optional<int64_t> uid = ParseUid(request.relayed_uid);
  if (!uid) return BadInput("the relay names no user by a number", "");
  Peer user = RemoteUser(peer, *uid);
  if (user.anonymous) return user;
  user.caller = RelayedCaller(request, *uid);
  if (request.relayed_host.size() <= kLongestHost) user.host = request.relayed_host;
  return user;
}

Result<Peer> ByToken(const std::string& token, const Peer& peer, const IdentityRules& rules,
                     UserNames& users, UnixSeconds now) {
  if (rules.tokens == nullptr) {
    return BadInput(
        "this daemon takes no tokens; its site may set remote.token_key or remote.token_jwks", "");
  }
  const Result<std::string> name = rules.tokens->UserOf(token, now);
  if (!name) return tl::unexpected<Error>(name.error());
  const std::optional<int64_t> uid = IsLoginName(*name) ? users.UidOf(*name) : std::nullopt;
  if (uid) return RemoteUser(peer, *uid);
  return BadInput(fmt::format("the token is of {}, whom the daemon's host does not know",
                              Quoted(Shortened(*name, kMostQuotedBytes))),
                  "");
}

// What a standby asks has the rights of the daemon's own user, and nothing else has.
bool IsStandby(const ApiRequest& request, const Peer& peer, const IdentityRules& rules) {
  if (!rules.standbys.contains(peer.certificate)) return false;
  const std::string path = request.target.substr(0, request.target.find('?'));
  return path == "/v1/standby" || path.starts_with("/v1/standby/");
}

}  // namespace

std::string MungePayload(const ApiRequest& request) {
  return fmt::format("gpuadvise {} {}", request.method, request.target);
}

std::optional<int64_t> CallerByRelay(const ApiRequest& request, const Peer& peer,
                                     const IdentityRules& rules) {
  if (!rules.relays.contains(peer.certificate)) return std::nullopt;
  const std::optional<int64_t> uid = ParseUid(request.relayed_uid);
  return uid ? std::optional(RelayedCaller(request, *uid)) : std::nullopt;
}

bool IsStrangers(const ApiRequest& request, const Peer& peer, const IdentityRules& rules) {
  return request.relayed_uid.empty() && request.authorization.empty() &&
         !IsStandby(request, peer, rules);
}

Result<Peer> IdentityOf(const ApiRequest& request, const Peer& peer, const IdentityRules& rules,
                        UserNames& users, UnixSeconds now) {
  const std::string_view shown = request.authorization;
  if (!request.relayed_uid.empty()) {
    if (shown.empty()) return Relayed(request, peer, rules);
    return BadInput("the request says twice who asks: by a relay and by Authorization", "");
  }
  if (shown.empty() && IsStandby(request, peer, rules)) {
    Peer standby = User(peer, static_cast<int64_t>(::geteuid()));
    standby.is_remote = false;
    return standby;
  }
  if (shown.empty()) return peer;
  if (shown.starts_with(kBearer)) {
    return ByToken(std::string(shown.substr(kBearer.size())), peer, rules, users, now);
  }
  if (!shown.starts_with(kMunge)) {
    return BadInput("Authorization is neither \"Bearer TOKEN\" nor \"Munge CREDENTIAL\"", "");
  }
  if (!rules.munge) {
    return BadInput("this daemon takes no munge credentials; its site may set remote.munge", "");
  }
  const Result<int64_t> uid = UidOfCredential(std::string(shown.substr(kMunge.size())),
                                              MungePayload(request), rules.munge_socket);
  if (!uid) return tl::unexpected<Error>(uid.error());
  return RemoteUser(peer, *uid);
}

}  // namespace gpuadvise::daemon
