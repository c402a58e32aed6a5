// The settings remote (who may ask this daemon from other hosts, over TLS) and relay (which daemon
// on another host this process asks). Pure; safe from any thread.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::daemon {

struct RemoteSettings {
  std::string listen = {};       // "HOST:PORT"; "": no caller from another host
  std::string certificate = {};  // PEM files
  std::string key = {};
  std::string ca = {};                     // of relays; "": no relay
  std::string revoked = {};                // certificates of `ca` that are not valid any more
  std::vector<std::string> relays = {};    // names of certificates that may say who asks
  std::vector<std::string> standbys = {};  // of those that may have the history
  std::string token_key = {};              // HS256, Slurm's jwt_key; "": none
  std::string token_jwks = {};             // RS256, Slurm's jwks; "": none
  std::string token_user_claim = "sun";
  std::string token_issuer = {};    // "": any
  std::string token_audience = {};  // "": any
  bool munge = false;
  std::string munge_socket = {};  // "": libmunge's own
  int64_t max_connections = 4096;
  int64_t max_connections_per_address = 512;

  friend bool operator==(const RemoteSettings&, const RemoteSettings&) = default;
};

struct RelaySettings {
  std::string url = {};  // https://HOST:PORT of the daemon; "": this is no relay
  std::string ca = "/etc/gpuadvise/relay/ca.crt";
  std::string certificate = "/etc/gpuadvise/relay/relay.crt";
  std::string key = "/etc/gpuadvise/relay/relay.key";
  friend bool operator==(const RelaySettings&, const RelaySettings&) = default;
};

namespace remote_settings {

// Errors: kBadInput, with what to write instead.
Result<void> ReadRemote(const nlohmann::json& value, const std::string& pointer,
                        RemoteSettings& into);
Result<void> ReadRelay(const nlohmann::json& value, const std::string& pointer,
                       RelaySettings& into);

nlohmann::json ShowRemote(const RemoteSettings& settings);
nlohmann::json ShowRelay(const RelaySettings& settings);

}  // namespace remote_settings

}  // namespace gpuadvise::daemon
