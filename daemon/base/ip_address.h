// An IP address as bytes that can be compared, whichever way it was written or came in: an IPv4
// address is the same as the IPv6 address that a dual-stack socket shows for it (::ffff:10.0.0.7).
// Pure.
#pragma once

#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>

namespace gpuadvise::daemon {

// IPv6 bytes; of an IPv4 address its mapped form.
using IpAddress = std::array<unsigned char, 16>;

// "10.0.0.7", "2001:db8::7", "[2001:db8::7]"; nullopt: no address, or one with a zone ("%eth0").
std::optional<IpAddress> ParseIpAddress(const std::string& text);

// Of a connection; nullopt: of another family.
std::optional<IpAddress> IpAddressOf(const sockaddr_storage& address);

// Whether only programs of this machine have it: 127.0.0.0/8 and ::1.
bool IsLoopback(const IpAddress& address);

// Whether it means another machine on each network: 169.254.0.0/16 and fe80::/10.
bool IsLinkLocal(const IpAddress& address);

}  // namespace gpuadvise::daemon
