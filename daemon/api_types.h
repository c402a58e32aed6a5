// One request and one answer of the API, free of any HTTP library: plain values.
#pragma once

#include <cstdint>
#include <string>

namespace gpuadvise {

/// Who is at the other end, as the kernel says.
struct Peer {
  int64_t uid = -1;
  bool anonymous = true;  // over TCP: nobody in particular, may only read
};

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/gpus?x=y"
  std::string body;
};

struct ApiResponse {
  int status = 200;
  std::string body;   // JSON
  std::string allow;  // the Allow header of a 405
};

}  // namespace gpuadvise
