// One request and one answer of the API, free of any HTTP library: plain values.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gpuadvise::daemon {

class EventFeed;

// Who is at the other end, as the kernel says.
struct Peer {
  int64_t uid = -1;
  bool anonymous = true;  // over TCP: nobody in particular, may only read
  int64_t caller = uid;   // whose bounds these are: the uid, or a number < 0 for the address
  bool is_proxy = false;  // the trusted login proxy, which asks for others (ApiRequest::named)
  std::string why_anonymous = {};         // a sentence, where the proxy named somebody in vain
  std::optional<int64_t> shown_uid = {};  // over TLS: whose credential or token the request has
  std::optional<std::string> signed_for = {};  // what that munge credential was made for
};

// What browsers say about a request beside what they ask for; "" where a field is not there.
struct BrowserFields {
  std::string host;
  std::string origin;
  std::string fetch_site;  // Sec-Fetch-Site
  std::string fetch_mode;  // Sec-Fetch-Mode
  std::string accept_encoding;
  std::string if_none_match;
};

struct ApiRequest {
  std::string method;  // "GET"
  std::string target;  // "/v1/gpus?x=y"
  std::string body;
  BrowserFields browser = {};
  // Whom the header of the trusted proxy names, once for each time that it is there; empty on every
  // other connection.
  std::vector<std::string> named = {};
  std::string authorization = {};  // the Authorization field
  std::string nonce = {};          // Gpuadvise-Nonce, of a munge credential
  bool is_head = false;            // it came as HEAD, which is answered as GET without the body
};

struct ApiResponse {
  int status = 200;
  std::string body;   // JSON, unless content_type says otherwise
  std::string allow;  // the Allow header of a 405
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> fields = {};  // further header fields
  std::shared_ptr<const std::string> shared_body = nullptr;      // one for many; before body
  std::shared_ptr<EventFeed> events = nullptr;                   // an endless body instead
  std::optional<std::chrono::seconds> events_last = {};          // but no longer than this
  std::chrono::nanoseconds cpu_time{0};                          // that the answer took
  std::shared_ptr<const void> held = nullptr;                    // let go once it is sent

  const std::string& Bytes() const { return shared_body ? *shared_body : body; }
};

}  // namespace gpuadvise::daemon
