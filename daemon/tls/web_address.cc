#include "daemon/tls/web_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::daemon {
namespace {

constexpr std::string_view kScheme = "https://";
constexpr size_t kLongestHost = 253;

bool IsHost(std::string_view host) {
  return !host.empty() && host.size() <= kLongestHost &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
                  c == '-' || c == '_' || c == ':';
         });
}

bool IsPort(std::string_view port) {
  return !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), IsDigit) &&
         std::stoi(std::string(port)) <= 65535;
}

}  // namespace

std::string WebAddress::HostField() const {
  return (host.find(':') == std::string::npos ? host : "[" + host + "]") + ":" + port;
}

std::string WebAddress::Text() const { return std::string(kScheme) + HostField(); }

Result<WebAddress> ParseWebAddress(const std::string& text) {
  const auto wrong = [&] {
    return BadInput(fmt::format("{} is not the address of a daemon; write https://HOST:PORT",
                                Quoted(Shortened(text, kMostQuotedBytes))),
                    "");
  };
  if (!text.starts_with(kScheme)) return wrong();
  std::string_view rest = std::string_view(text).substr(kScheme.size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const bool bracketed = rest.starts_with('[');
  const size_t close = bracketed ? rest.find(']') : std::string_view::npos;
  if (bracketed && close == std::string_view::npos) return wrong();
  const size_t colon = bracketed ? rest.find(':', close) : rest.find(':');
  const std::string_view before = rest.substr(0, colon);
  WebAddress address;
  address.host = bracketed ? before.substr(1, close - 1) : before;
  address.port = colon == std::string_view::npos ? kRemotePort : rest.substr(colon + 1);
  if (bracketed && before.size() != close + 1) return wrong();
  if (!IsHost(address.host) || !IsPort(address.port)) return wrong();
  if (!bracketed && address.host.find(':') != std::string::npos) return wrong();
  return address;
}

}  // namespace gpuadvise::daemon
