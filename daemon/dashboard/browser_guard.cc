#include "daemon/dashboard/browser_guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address.hpp>

#include "common/base/text.h"

namespace gpuadvise::daemon {
namespace {

constexpr size_t kShownBytes = 100;

bool IsAddress(const std::string& host) {
  if (host.find('\0') != std::string::npos) return false;  // make_address() reads up to it
  boost::system::error_code error;
  boost::asio::ip::make_address(host, error);
  return !error;
}

bool IsLocalhost(std::string_view host) {
  return host == "localhost" || host.ends_with(".localhost");
}

bool IsListed(const std::string& host, const std::vector<std::string>& allowed_hosts) {
  return std::any_of(allowed_hosts.begin(), allowed_hosts.end(),
                     [&](const std::string& name) { return HostWithoutPort(name) == host; });
}

bool IsKnown(const std::string& host, const std::vector<std::string>& allowed_hosts) {
  return IsAddress(host) || IsLocalhost(host) || IsListed(host, allowed_hosts);
}

std::string_view WithoutScheme(std::string_view origin) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (origin.starts_with(scheme)) return origin.substr(scheme.size());
  }
  return "";
}

// A page that this daemon has served: at the same host and port, or under a listed name (a
// reverse proxy may say another host to us than its visitors type).
bool IsOwnOrigin(const ApiRequest& request, const std::vector<std::string>& allowed_hosts) {
  const std::string_view origin = WithoutScheme(request.browser.origin);
  if (origin.empty()) return false;
  return origin == request.browser.host || IsListed(HostWithoutPort(origin), allowed_hosts);
}

std::string Shown(std::string_view text) { return std::string(text.substr(0, kShownBytes)); }

}  // namespace

std::string HostWithoutPort(std::string_view host_field) {
  std::string_view host = host_field;
  if (host.starts_with('[')) {
    host = host.substr(1, host.find(']') - 1);
  } else if (std::count(host.begin(), host.end(), ':') == 1) {
    host = host.substr(0, host.find(':'));
  }
  if (host.ends_with('.')) host.remove_suffix(1);
  return LowerCase(host);
}

Result<void> CheckBrowser(const ApiRequest& request,
                          const std::vector<std::string>& allowed_hosts) {
  const BrowserFields& browser = request.browser;
  if (!IsKnown(HostWithoutPort(browser.host), allowed_hosts)) {
    return BadInput(
        fmt::format("'{}' is not a name of this daemon: use its address or localhost, or have an "
                    "admin list the name under listen_hosts in gpuadvised.yaml",
                    Shown(browser.host)));
  }
  if (!browser.origin.empty() && !IsOwnOrigin(request, allowed_hosts)) {
    return BadInput(
        fmt::format("a page of {} may not use this daemon; behind a reverse proxy, list its name "
                    "under listen_hosts in gpuadvised.yaml",
                    Shown(browser.origin)));
  }
  const bool from_elsewhere =
      browser.fetch_site == "cross-site" || browser.fetch_site == "same-site";
  if (from_elsewhere && browser.origin.empty() && browser.fetch_mode != "navigate") {
    return BadInput("a page of another site may not use this daemon; open the dashboard itself");
  }
  return {};
}

}  // namespace gpuadvise::daemon
