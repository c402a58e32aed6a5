#include "daemon/settings/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>
#include <utility>

#include "common/base/text.h"
#include "common/base/words.h"
#include "daemon/base/ip_address.h"
#include "daemon/base/postgres_url.h"
#include "daemon/settings/settings_values.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

// Keys of earlier versions; docs/site-guide.md names them.
struct RemovedSetting {
  const char* name;
  const char* instead;
};

constexpr RemovedSetting kRemoved[] = {
    {"standby",
     "give both daemons the same history: postgresql://...: one of them answers, and the other "
     "takes over where it fails (docs/site-guide.md, \"When a host fails\")"},
    {"metrics",
     "/metrics has the gpuadvise_* names alone (docs/metrics.md); for slurm_* use Slurm's own "
     "metrics (MetricsType in 25.11 and later) or prometheus-slurm-exporter"},
    {"remote",
     "use listen_tls: its address is listen, its jwt_key is token_key, and certificate, key, "
     "munge, "
     "munge_socket, max_connections and max_connections_per_address keep their names; users of "
     "OpenID (token_jwks, token_user_claim, token_issuer, token_audience) come through "
     "trusted_proxy; ca, revoked, relays and standbys go, for there are no relays and no client "
     "certificates any more (docs/other-hosts.md)"},
    {"relay",
     "no gpuadvised runs on the other hosts any more: write daemon: https://HOST:6829 in their "
     "/etc/gpuadvise/client.yaml, and set listen_tls in the daemon's own gpuadvised.yaml "
     "(docs/other-hosts.md)"},
    {"clusters",
     "name the clusters in client.yaml and ask several of them with -M (docs/other-hosts.md)"},
};

constexpr size_t kLongestHeader = 64;

// What these say is not up to a proxy that names users.
constexpr std::string_view kTaken[] = {
    "accept-encoding",   "authorization", "connection", "content-length",
    "content-type",      "cookie",        "expect",     "host",
    "if-none-match",     "origin",        "te",         "trailer",
    "transfer-encoding", "upgrade"};

bool IsHeaderName(const std::string& text) {
  return text.size() <= kLongestHeader && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_';
         });
}

Result<void> CheckHeader(const std::string& header) {
  const std::string lower = LowerCase(header);
  const bool taken =
      lower.starts_with("sec-") || lower.starts_with("proxy-") || IsOneOf(lower, kTaken);
  if (IsHeaderName(header) && !taken) return {};
  return BadInput(
      fmt::format("trusted_proxy.header is {}; name a header of the proxy's own, such as "
                  "X-Remote-User",
                  Quoted(Shortened(header, kLongestHeader))),
      "/trusted_proxy/header");
}

Result<void> CheckAddress(const TrustedProxySettings& proxy) {
  const char* at = "/trusted_proxy/address";
  if (proxy.address.starts_with("unix:")) {
    if (!ProxySocket(proxy).starts_with('/')) {
      return BadInput(
          "trusted_proxy.address has no absolute path after unix:; write "
          "unix:/run/gpuadvise/proxy.sock",
          at);
    }
    if (!proxy.user.empty()) return {};
    return BadInput(
        "trusted_proxy.user is empty; name the account that the proxy runs as, such as www-data: "
        "nobody else may name users on its socket",
        "/trusted_proxy/user");
  }
  const std::optional<IpAddress> address = ParseIpAddress(proxy.address);
  if (!address || IsLinkLocal(*address)) {
    return BadInput(fmt::format("trusted_proxy.address is {}, which is no address of one machine; "
                                "write an IP address such as 10.0.0.7 or 2001:db8::7, or "
                                "unix:/run/gpuadvise/proxy.sock",
                                Quoted(Shortened(proxy.address, kMaxQuotedBytes))),
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
      "/trusted_proxy/user");
}

const char* ProxyForm() {
  const char* words = "";
  Settings::Keys([&](std::string_view key, auto, const SettingForm& form) {
    if (key == "trusted_proxy") words = form.words;
  });
  return words;
}

// A proxy that may name users has an address that nobody else has. On a machine that people log in
// to, everybody can connect from a loopback address, but the kernel tells who is at the other end
// of a Unix socket: so a proxy on this machine comes by a socket of its own, and is known by the
// account that it runs as; one on another machine is known by its address.
Result<void> CheckProxy(const Settings& settings) {
  const TrustedProxySettings& proxy = settings.trusted_proxy;
  if (proxy == TrustedProxySettings()) return {};
  if (proxy.header.empty() || proxy.address.empty()) {
    return BadInput(fmt::format("trusted_proxy has no {}; write {}",
                                proxy.header.empty() ? "header" : "address", ProxyForm()),
                    "/trusted_proxy");
  }
  if (Result<void> good = CheckHeader(proxy.header); !good) return good;
  if (Result<void> good = CheckAddress(proxy); !good) return good;
  if (ProxySocket(proxy).empty() && settings.listen.empty()) {
    return BadInput(
        "trusted_proxy.address is one of TCP, and listen is empty; set listen: to where the proxy "
        "connects",
        "/trusted_proxy");
  }
  if (ProxySocket(proxy) == settings.socket) {
    return BadInput(
        "trusted_proxy.address is the socket of the clients; give the proxy one of its own, such "
        "as unix:/run/gpuadvise/proxy.sock",
        "/trusted_proxy/address");
  }
  return {};
}

Result<void> CheckListenTls(const ListenTlsSettings& tls) {
  if (tls.address.empty() || !(tls.certificate.empty() || tls.key.empty())) return {};
  return BadInput(fmt::format("listen_tls has no {}; docs/other-hosts.md shows how to make one",
                              tls.certificate.empty() ? "certificate" : "key"),
                  "/listen_tls");
}

Result<void> CheckSlurmrestd(const std::string& url) {
  if (url.empty()) return {};
  for (const std::string_view start : {"unix:/", "http://", "https://"}) {
    if (url.size() > start.size() && url.starts_with(start)) return {};
  }
  return BadInput(fmt::format("slurmrestd.url is \"{}\"; write unix:/run/slurmrestd.sock, "
                              "http://HOST:6820 or https://HOST:6820",
                              url),
                  "/slurmrestd/url");
}

Result<void> CheckHistory(const std::string& url) {
  if (url.empty()) return {};
  const Result<PostgresPlace> place = ReadPostgresUrl(url);
  return place ? Result<void>() : BadInput(place.error().message, "/history");
}

Result<void> CheckNotRemoved(const json& document) {
  std::vector<Error> found;
  for (const RemovedSetting& removed : kRemoved) {
    if (!document.contains(removed.name)) continue;
    found.push_back({ErrorCode::kBadInput,
                     fmt::format("the setting {} was removed; {}", removed.name, removed.instead),
                     fmt::format("/{}", removed.name)});
  }
  if (found.empty()) return {};
  Error first = std::move(found.front());
  first.further.assign(found.begin() + 1, found.end());
  return tl::unexpected<Error>(std::move(first));
}

Result<void> CheckSettings(const Settings& settings) {
  if (Result<void> good = CheckProxy(settings); !good) return good;
  if (Result<void> good = CheckListenTls(settings.listen_tls); !good) return good;
  if (Result<void> good = CheckSlurmrestd(settings.slurmrestd.url); !good) return good;
  return CheckHistory(settings.history);
}

}  // namespace

Result<Settings> SettingsFromJson(const json& document) {
  Settings settings;
  if (document.is_null()) return settings;
  if (!document.is_object()) {
    return BadInput("the settings are not a mapping; write one \"key: value\" a line");
  }
  Result<void> read = CheckNotRemoved(document);
  if (read) read = ReadSetting({document, "", SettingForm{}}, settings);
  if (read) read = CheckSettings(settings);
  if (!read) return tl::unexpected<Error>(std::move(read.error()));
  return settings;
}

json SettingsToJson(const Settings& settings) {
  json shown = ShowSetting(settings);
  shown["history"] = WithoutPassword(settings.history);
  return shown;
}

std::vector<std::string> SettingsKeys() { return KeysOf<Settings>(); }

std::vector<std::string> ChangedKeys(const Settings& a, const Settings& b) {
  std::vector<std::string> changed;
  Settings::Keys([&](const char* key, auto member, const SettingForm&) {
    if (ShowSetting(a.*member) != ShowSetting(b.*member)) changed.emplace_back(key);
  });
  return changed;
}

bool NeedsRestart(std::string_view key) {
  bool needs = false;
  Settings::Keys([&](const char* each, auto, const SettingForm& form) {
    if (key == each) needs = form.is_read_at_start;
  });
  return needs;
}

SiteGpus SiteGpusOf(const Settings& settings) {
  return {settings.gpu_aliases, settings.untyped_gpus, settings.interconnects};
}

std::string ProxySocket(const TrustedProxySettings& proxy) {
  constexpr std::string_view kUnix = "unix:";
  return proxy.address.starts_with(kUnix) ? proxy.address.substr(kUnix.size()) : "";
}

}  // namespace gpuadvise::daemon
