#include "common/munge/munge.h"

#include <fmt/format.h>

#include "common/net/tls.h"

namespace gpuadvise {

std::string MungePayload(std::string_view method, std::string_view target, std::string_view nonce,
                         std::string_view body) {
  return "gpuadvise " + Sha256(fmt::format("{}\n{}\n{}\n{}", method, target, nonce, body));
}

}  // namespace gpuadvise
