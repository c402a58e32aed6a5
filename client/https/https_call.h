// One HTTP or HTTPS call, through libcurl, which is loaded when first needed.
//
// Bounded: a deadline, no redirects, a longest answer. Blocking; from any thread. No error names
// the URL, which may be a secret.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct HttpsRequest {
  std::string url;
  std::optional<std::string> body;       // JSON to POST; none: GET
  std::vector<std::string> fields = {};  // further header fields: "Authorization: …"
  std::string ca_file = {};              // whom to trust; "": whom this machine trusts
  std::chrono::milliseconds patience{10'000};
  size_t most_answer_bytes = 64u << 10;
};

struct HttpsAnswer {
  long status = 0;  // 200, 404 …
  std::string body;
  std::string location = {};  // of a 3xx
};

// Errors: kUnavailable with what went wrong, as the end of a sentence: "no answer within 10 s".
Result<HttpsAnswer> CallHttps(const HttpsRequest& request);

// `text` as one value of a URL's query.
std::string PercentEncoded(std::string_view text);

}  // namespace gpuadvise::client
