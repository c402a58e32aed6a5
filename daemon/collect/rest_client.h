// One GET to slurmrestd, over a Unix socket, HTTP or HTTPS.
//
// A connection for each question, closed after it; a deadline for the whole of it and a bound on
// the answer. Redirections are refused: a token goes to nobody but the server that the site named.
// Blocks the calling thread, never longer than the deadline (and what the resolver of host names
// takes to give up).
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "common/base/error.h"

namespace gpuadvise::collect {

// Where slurmrestd listens.
struct RestAddress {
  enum class Kind { kUnix, kHttp, kHttps };
  Kind kind = Kind::kUnix;
  std::string path;  // of the socket
  std::string host;
  std::string port;
  std::string prefix;  // before every path, where a proxy wants one: "/slurmrestd"
};

// From "unix:/run/slurmrestd.sock", "http://host:6820", "https://host/prefix", "http://[::1]:6820".
// Errors: kBadInput with what to write instead.
Result<RestAddress> ParseRestAddress(const std::string& url);

struct RestCall {
  RestAddress address;
  std::string target;   // "/slurm/v0.0.42/nodes/"
  std::string token;    // "": none is sent
  std::string user;     // "": none is sent
  std::string ca_file;  // of https; "": the system's certificates
  std::chrono::milliseconds deadline{20'000};
  size_t most_bytes = size_t{512} << 20;
};

struct RestAnswer {
  int status = 0;  // of HTTP
  std::string body;
  std::string location;  // of a redirection
};

// Errors: kUnavailable with the address and what happened. Answers of any status are answers.
Result<RestAnswer> AskRest(const RestCall& call);

}  // namespace gpuadvise::collect
