#include "daemon/settings/proxy_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "daemon/base/ip_address.h"
#include "daemon/settings/settings_values.h"

namespace gpuadvise::daemon {

std::string TrustedProxySettings::SocketPath() const {
  constexpr std::string_view kUnix = "unix:";
  return address.starts_with(kUnix) ? address.substr(kUnix.size()) : "";
}

namespace proxy_settings {
namespace {

using nlohmann::json;
namespace values = settings_values;

constexpr const char* kForm =
    "write {header: X-Remote-User, address: \"unix:/run/gpuadvise/proxy.sock\", user: www-data} "
    "for a proxy on this machine, {header: X-Remote-User, address: 10.0.0.7} for one on another";
constexpr size_t kLongestHeader = 64;

// What these say is not up to a proxy that names users.
constexpr std::array<std::string_view, 14> kTaken = {"accept-encoding",
                                                     "authorization",
                                                     "connection",
                                                     "content-length",
                                                     "content-type",
                                                     "cookie",
                                                     "expect",
                                                     "host",
                                                     "if-none-match",
                                                     "origin",
                                                     "transfer-encoding",
                                                     "upgrade",
                                                     "te",
                                                     "trailer"};

bool IsHeaderName(const std::string& text) {
  return text.size() <= kLongestHeader && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

Result<void> CheckHeader(const std::string& header, const std::string& pointer) {
  const std::string lower = LowerCase(header);
  const bool taken = lower.starts_with("sec-") || lower.starts_with("proxy-") ||
                     std::find(kTaken.begin(), kTaken.end(), lower) != kTaken.end();
  if (IsHeaderName(header) && !taken) return {};
  return BadInput(
      fmt::format("trusted_proxy.header is {}; name a header of the proxy's own, such as "
                  "X-Remote-User",
                  Quoted(Shortened(header, kLongestHeader))),
      pointer + "/header");
}

Result<void> CheckAddress(const TrustedProxySettings& proxy, const std::string& pointer) {
  const std::string at = pointer + "/address";
  if (proxy.address.starts_with("unix:")) {
    if (!proxy.SocketPath().starts_with('/')) {
      return BadInput(
          "trusted_proxy.address has no absolute path after unix:; write "
          "unix:/run/gpuadvise/proxy.sock",
          at);
    }
    if (!proxy.user.empty()) return {};
    return BadInput(
        "trusted_proxy.user is empty; name the account that the proxy runs as, such as www-data: "
        "nobody else may name users on its socket",
        pointer + "/user");
  }
  const std::optional<IpAddress> address = ParseIpAddress(proxy.address);
  if (!address || IsLinkLocal(*address)) {
    return BadInput(fmt::format("trusted_proxy.address is {}, which is no address of one machine; "
                                "write an IP address such as 10.0.0.7 or 2001:db8::7, or "
                                "unix:/run/gpuadvise/proxy.sock",
                                Quoted(Shortened(proxy.address, kMostQuotedBytes))),
                    at);
  }
  if (IsLoopback(*address)) {
    return BadInput(
        fmt::format("trusted_proxy.address is {}, from which every user of this machine can "
                    "connect; write unix:/run/gpuadvise/proxy.sock and the proxy's user",
                    proxy.address),
        at);
  }
  if (proxy.user.empty()) return {};
  return BadInput(
      "trusted_proxy.user is for a proxy on a Unix socket; leave it out, or write "
      "address: unix:/PATH",
      pointer + "/user");
}

}  // namespace

Result<void> Read(const json& value, const std::string& pointer, TrustedProxySettings& into) {
  if (value.is_null()) return {};
  if (!value.is_object()) {
    return BadInput(fmt::format("trusted_proxy is not a mapping; {}", kForm), pointer);
  }
  TrustedProxySettings proxy;
  const std::pair<const char*, std::string*> places[] = {
      {"header", &proxy.header}, {"address", &proxy.address}, {"user", &proxy.user}};
  for (const auto& [key, inner] : value.items()) {
    const auto* place =
        std::find_if(std::begin(places), std::end(places),
                     [&, &name = key](const auto& one) { return name == one.first; });
    if (place == std::end(places)) {
      return tl::unexpected<Error>(values::UnknownKey(key, pointer, {"header", "address", "user"}));
    }
    Result<std::string> text = values::Text(inner, pointer + "/" + key);
    if (!text) return tl::unexpected<Error>(std::move(text.error()));
    *place->second = std::move(*text);
  }
  if (!(proxy == TrustedProxySettings())) {
    if (proxy.header.empty() || proxy.address.empty()) {
      return BadInput(fmt::format("trusted_proxy has no {}; {}",
                                  proxy.header.empty() ? "header" : "address", kForm),
                      pointer);
    }
    Result<void> good = CheckHeader(proxy.header, pointer);
    if (good) good = CheckAddress(proxy, pointer);
    if (!good) return good;
  }
  into = std::move(proxy);
  return {};
}

json Show(const TrustedProxySettings& settings) {
  return {{"header", settings.header}, {"address", settings.address}, {"user", settings.user}};
}

}  // namespace proxy_settings

}  // namespace gpuadvise::daemon
