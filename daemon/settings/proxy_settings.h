// The setting trusted_proxy: which login proxy may say who asks, and how it is known.
//
// On a machine that people log in to, everybody can connect from a loopback address; the kernel
// tells who is at the other end of a Unix socket. So a proxy on this machine comes by a socket of
// its own, and is known by the account that it runs as; one on another machine is known by its
// address. Pure; safe from any thread.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

struct TrustedProxySettings {
  std::string header = {};   // that names the user; "": no proxy is trusted
  std::string address = {};  // of the proxy: an IP address, or unix:/PATH for a socket of its own
  std::string user = {};     // of unix: the account that the proxy runs as

  // Where the proxy connects on this machine; "": over TCP.
  std::string SocketPath() const;
  friend bool operator==(const TrustedProxySettings&, const TrustedProxySettings&) = default;
};

namespace proxy_settings {

// Errors: kBadInput, with what to write instead: part of it is missing, the header is one that
// HTTP or browsers give a meaning to, or the address is one that anybody may have.
Result<void> Read(const nlohmann::json& value, const std::string& pointer,
                  TrustedProxySettings& into);

nlohmann::json Show(const TrustedProxySettings& settings);

}  // namespace proxy_settings

}  // namespace gpuadvise::daemon
