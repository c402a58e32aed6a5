// The clusters of other daemons, as the dashboard shows them beside its own: how long each kind of
// GPU lets one wait, and questions passed on.
//
// Each daemon is asked now and then from a thread of its own, so a page never waits for one that is
// silent; only a question of a person is passed on while they wait, for a second at most. What is
// asked is asked without a name: the page shows of another cluster what everybody may see there.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "common/base/error.h"
#include "daemon/link/daemon_link.h"

namespace gpuadvise::daemon {

class OtherClusters {
 public:
  // `addresses`: name -> https://HOST:PORT; in tests also a socket, on which the other daemon would
  // take this process for its user: the settings allow none. `ca`: whose certificates are trusted.
  // Errors: kBadInput: an address that is none. Where there are none nothing is asked.
  static Result<std::unique_ptr<OtherClusters>> Make(
      const std::map<std::string, std::string>& addresses, const std::string& ca,
      std::chrono::milliseconds interval = kInterval);
  ~OtherClusters();
  OtherClusters(const OtherClusters&) = delete;
  OtherClusters& operator=(const OtherClusters&) = delete;

  // Of each, by name: {"cluster", "gpus": [...] or null, "age_seconds", "problem"}. What it said of
  // its waits is cut to what is known of the form (docs/api.md).
  nlohmann::json Waits() const;

  // The answer of `cluster` to a POST of `body`. Blocks, for kPatience; longer where the name
  // server is silent, and then not those who come after. Errors: kNotFound: no such cluster;
  // kUnavailable: it is silent, or was just now.
  Result<LinkAnswer> Ask(const std::string& cluster, const std::string& target,
                         const std::string& body);

  static constexpr std::chrono::milliseconds kPatience{1'000};
  static constexpr std::chrono::milliseconds kInterval{30'000};
  static constexpr std::chrono::seconds kSilence{10};  // after which one that was silent is asked

 private:
  using Clock = std::chrono::steady_clock;

  struct Cluster {
    DaemonLink link;
    nlohmann::json gpus = nullptr;  // guarded by mutex_, like those below
    std::optional<Clock::time_point> answered = {};
    std::optional<Clock::time_point> failed = {};  // nullopt: the last question was answered
    std::multiset<Clock::time_point> asked = {};   // when the questions on their way were begun
    std::string problem = "it has not been asked yet";
  };

  OtherClusters() = default;
  Result<LinkAnswer> AskOne(Cluster& cluster, const std::string& method, const std::string& target,
                            const std::string& body);
  void AskForWaits(Cluster& cluster);
  void Run(std::chrono::milliseconds interval);

  std::map<std::string, Cluster> clusters_;
  mutable std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread thread_;
};

}  // namespace gpuadvise::daemon
