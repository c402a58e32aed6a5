// Which jobs ran on which node lately: what a picture of a node in time shows left of now.
//
// The history keeps no nodes, so this is what snapshots have shown since the start: a job that is
// gone in a snapshot has ended by then. Bounded by age and by number; the oldest goes first. Safe
// from any thread.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/slurm/snapshot.h"

namespace gpuadvise {

// Of a job that is over; one for all its nodes.
struct JobFacts {
  int64_t id = 0;
  int64_t uid = 0;
  std::string user;
  std::vector<std::string> partitions;
};

// One job on one node, over.
struct NodeRun {
  std::shared_ptr<const JobFacts> job;
  int64_t gpus = 0;  // its GPUs on the node
  UnixSeconds start = 0;
  UnixSeconds end = 0;  // at the latest: between this snapshot and the one before
};

class NodePast {
 public:
  static constexpr int64_t kKeptSeconds = 48 * 3600;  // after the end
  static constexpr size_t kMostRuns = 200'000;        // job and node

  // The newest snapshot; one that is older than the last is left out. O(jobs).
  void See(const Snapshot& snapshot);

  // Those with GPUs that have ended on `node`, the first to end first.
  std::vector<NodeRun> On(const std::string& node) const;

  // The time of the first snapshot; nullopt before it. What ended earlier is not known.
  std::optional<UnixSeconds> known_since() const;

 private:
  struct Running {
    NodeRun run;                                        // but for the end
    std::vector<std::pair<std::string, int64_t>> gpus;  // by node
    uint64_t seen = 0;                                  // the snapshot that last had it
  };

  void Keep(const Running& ended, UnixSeconds at);
  void Forget(UnixSeconds now);

  mutable std::mutex mutex_;  // guards all below
  std::optional<UnixSeconds> known_since_;
  UnixSeconds now_ = 0;
  uint64_t snapshots_ = 0;
  std::unordered_map<int64_t, Running> running_;  // by job id
  std::unordered_map<std::string, std::deque<NodeRun>> past_;
  std::deque<std::string> order_;  // the node of each run of `past_`, the first to end first
};

}  // namespace gpuadvise
