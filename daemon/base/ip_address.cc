#include "daemon/base/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace gpuadvise::daemon {
namespace {

constexpr std::array<unsigned char, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

IpAddress FromV4(const in_addr& address) {
  IpAddress bytes{};
  std::copy(kMapped.begin(), kMapped.end(), bytes.begin());
  std::memcpy(bytes.data() + kMapped.size(), &address, sizeof(address));
  return bytes;
}

IpAddress FromV6(const in6_addr& address) {
  IpAddress bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  return bytes;
}

bool IsV4(const IpAddress& address) {
  return std::equal(kMapped.begin(), kMapped.end(), address.begin());
}

}  // namespace

std::optional<IpAddress> ParseIpAddress(const std::string& text) {
  if (text.find('\0') != std::string::npos) return std::nullopt;  // inet_pton() reads up to it
  const bool in_brackets = text.size() > 2 && text.front() == '[' && text.back() == ']';
  const std::string bare = in_brackets ? text.substr(1, text.size() - 2) : text;
  in_addr v4{};
  if (!in_brackets && inet_pton(AF_INET, bare.c_str(), &v4) == 1) return FromV4(v4);
  in6_addr v6{};
  if (inet_pton(AF_INET6, bare.c_str(), &v6) == 1) return FromV6(v6);
  return std::nullopt;
}

std::optional<IpAddress> IpAddressOf(const sockaddr_storage& address) {
  if (address.ss_family == AF_INET) {
    return FromV4(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  }
  if (address.ss_family == AF_INET6) {
    return FromV6(reinterpret_cast<const sockaddr_in6&>(address).sin6_addr);
  }
  return std::nullopt;
}

bool IsLoopback(const IpAddress& address) {
  if (IsV4(address)) return address[kMapped.size()] == 127;
  IpAddress loopback{};
  loopback.back() = 1;
  return address == loopback;
}

bool IsLinkLocal(const IpAddress& address) {
  if (IsV4(address)) return address[12] == 169 && address[13] == 254;
  return address[0] == 0xfe && (address[1] & 0xc0) == 0x80;
}

}  // namespace gpuadvise::daemon
