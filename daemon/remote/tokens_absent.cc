// In place of tokens.cc in a static build, which has no libjwt: Debian has no static one.
#include <memory>
#include <utility>

#include "daemon/remote/tokens.h"

namespace gpuadvise::daemon {
namespace {

constexpr const char* kNoTokens =
    "listen_tls.jwt_key: the portable gpuadvised reads no tokens; leave jwt_key empty, and callers "
    "are known by munge, or install gpuadvised from packages or source";

}  // namespace

Result<std::unique_ptr<Tokens>> Tokens::Make(std::string) {
  return Fail(ErrorCode::kUnavailable, kNoTokens);
}

Result<void> Tokens::Refresh() { return {}; }

Result<std::string> Tokens::UserOf(const std::string&, UnixSeconds) const {
  return Fail(ErrorCode::kUnavailable, kNoTokens);
}

}  // namespace gpuadvise::daemon
