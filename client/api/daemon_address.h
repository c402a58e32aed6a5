// Where a daemon is: a Unix socket of this host, or https://HOST:PORT, where callers show who they
// are.
#pragma once

#include <string>
#include <utility>

namespace gpuadvise::client {

struct DaemonAddress {
  DaemonAddress(std::string at) : place(std::move(at)) {}  // NOLINT(google-explicit-constructor)
  DaemonAddress(const char* at) : place(at) {}             // NOLINT(google-explicit-constructor)

  std::string place;
  std::string ca_file = {};     // of https: whom to trust; "": whom this machine trusts
  std::string token_file = {};  // of https: with a token; "": SLURM_JWT, else munge

  std::string munge_socket = {};  // of https: munged's; "": libmunge's own
  bool as_nobody = false;         // of https: neither token nor credential is sent

  bool IsRemote() const { return place.starts_with("https://"); }
};

}  // namespace gpuadvise::client
