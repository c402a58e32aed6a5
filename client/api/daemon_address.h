// Where the daemon of one cluster is, and how callers show it who they are.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace gpuadvise::client {

struct DaemonAddress {
  DaemonAddress() = default;
  DaemonAddress(std::string at) : places({std::move(at)}) {}  // NOLINT(google-explicit-constructor)
  DaemonAddress(const char* at) : places({at}) {}             // NOLINT(google-explicit-constructor)

  // Unix sockets of this host (/PATH) and https://HOST:PORT, in the order in which they are asked.
  std::vector<std::string> places;
  std::string ca = {};            // of https: file with whom to trust; "": whom this machine trusts
  std::string token_file = {};    // of https: with a token, where SLURM_JWT is not set
  std::string munge_socket = {};  // of https: munged's; "": libmunge's own

  // "/run/a.sock", or "https://a:6829, https://b:6829".
  std::string InWords() const {
    std::string words;
    for (const std::string& place : places) words += (words.empty() ? "" : ", ") + place;
    return words;
  }
};

// What the command line says of the daemon; "" not given.
struct DaemonFlags {
  std::string socket;
  std::string daemon;
};

// The places in "https://a:6829,https://b:6829"; sockets (/PATH) may be among them. Errors:
// kBadInput, a sentence.
Result<std::vector<std::string>> ReadDaemonList(std::string_view text);

}  // namespace gpuadvise::client
