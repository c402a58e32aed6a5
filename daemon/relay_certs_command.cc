#include "daemon/relay_certs_command.h"

#include <fmt/format.h>
#include <getopt.h>

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/words.h"
#include "daemon/base/clock.h"
#include "daemon/tls/relay_certs.h"

namespace gpuadvise::daemon {
namespace {

constexpr int kNotDone = 1;
constexpr int kBadUsage = 2;
constexpr int kMostDays = 3650;

constexpr const char* kCertsHelp =
    R"(Makes the certificates that a daemon and the relays on other hosts know each other by.
Usage: gpuadvised relay-certs [OPTIONS]

What is there and valid for another 30 days is kept; without options all others are renewed.

Options:
  -h,--help                   Print this help message and exit
  --dir TEXT                  folder for all of them (default: /etc/gpuadvise/tls)
  --daemon TEXT               names and addresses that the daemon is reached under, with commas
  --relay TEXT                hosts that get a relay, with commas
  --revoke TEXT               relays that are not to be believed any more, with commas
  --days INT                  how long a certificate is valid (default: 365)

)";

enum Code { kHelp = 'h', kDir = 256, kDaemon, kRelays, kRevoke, kDays };

const option kCertsOptions[] = {{"help", no_argument, nullptr, kHelp},
                                {"dir", required_argument, nullptr, kDir},
                                {"daemon", required_argument, nullptr, kDaemon},
                                {"relay", required_argument, nullptr, kRelays},
                                {"revoke", required_argument, nullptr, kRevoke},
                                {"days", required_argument, nullptr, kDays},
                                {nullptr, 0, nullptr, 0}};

int RefuseCertsUsage(const std::string& why) {
  fmt::print(stderr, "gpuadvised relay-certs: {}\nRun with --help for more information.\n", why);
  return kBadUsage;
}

std::vector<std::string> ListOf(const char* text) {
  std::vector<std::string> names;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) names.push_back(part);
  return names;
}

std::optional<std::chrono::hours> DaysOf(std::string_view text) {
  int days = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), days);
  if (status != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (days < 1 || days > kMostDays) return std::nullopt;
  return std::chrono::hours(24 * days);
}

// The status to end with at once; nullopt: go on.
std::optional<int> ReadCertsArguments(int argc, char** argv, RelayCertsRequest& request) {
  opterr = 0;
  optind = 1;
  for (int code = 0; (code = getopt_long(argc, argv, ":h", kCertsOptions, nullptr)) != -1;) {
    if (code == kHelp) {
      fmt::print("{}", kCertsHelp);
      return 0;
    }
    if (code == kDir) {
      request.dir = std::filesystem::absolute(optarg).lexically_normal().string();
    } else if (code == kDaemon) {
      request.daemon_hosts = ListOf(optarg);
    } else if (code == kRelays) {
      request.relays = ListOf(optarg);
    } else if (code == kRevoke) {
      request.revoke = ListOf(optarg);
    } else if (code == kDays) {
      const auto days = DaysOf(optarg);
      if (!days) {
        return RefuseCertsUsage(fmt::format("--days is {}; write a number from 1 to {}",
                                            Quoted(Shortened(optarg, kMostQuotedBytes)),
                                            kMostDays));
      }
      request.valid_for = *days;
    } else {
      return RefuseCertsUsage(fmt::format("{} {}", argv[optind - 1],
                                          code == ':' ? "needs a value" : "is not an option here"));
    }
  }
  if (optind == argc) return std::nullopt;
  return RefuseCertsUsage(fmt::format("{} is not expected", argv[optind]));
}

}  // namespace

int RelayCerts(int argc, char** argv) {
  RelayCertsRequest request;
  if (const auto status = ReadCertsArguments(argc, argv, request)) return *status;
  const Result<std::vector<std::string>> lines = MakeRelayCerts(request, SystemClock().Now());
  if (!lines) {
    fmt::print(stderr, "gpuadvised relay-certs: {}\n", lines.error().message);
    return lines.error().code == ErrorCode::kBadInput ? kBadUsage : kNotDone;
  }
  for (const std::string& line : *lines) fmt::print("{}\n", line);
  return 0;
}

}  // namespace gpuadvise::daemon
