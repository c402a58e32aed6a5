// Where a daemon on another host answers: https://HOST[:PORT].
#pragma once

#include <string>

#include "common/base/error.h"

namespace gpuadvise::daemon {

inline constexpr const char* kRemotePort = "6829";

struct WebAddress {
  std::string host;  // a name or an address, without brackets
  std::string port;

  std::string Text() const;       // "https://[::1]:6829"
  std::string HostField() const;  // "[::1]:6829"
};

// Reads "https://centre.example.org:6829"; without a port it is kRemotePort. Errors: kBadInput
// without a name of the setting: "... ; write https://HOST:PORT". http is refused: it would carry
// who asks, and the answers, for everybody to read and change.
Result<WebAddress> ParseWebAddress(const std::string& text);

}  // namespace gpuadvise::daemon
