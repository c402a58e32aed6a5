// What users report to the whole daemon: each asks as a process of his own uid.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "common/runs/outcome.h"
#include "common/slurm/snapshot_records.h"
#include "tests/daemon/running_daemon.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Users of every Linux: who has no name claims nothing.
constexpr uid_t kEve = 1;
constexpr uid_t kBob = 2;
constexpr int64_t kNewest = 5'000;  // that the queue shows

// Twelve nodes of which one is taken, and `more`.
std::string BatchOf(const std::string& more) {
  Snapshot snapshot = SnapshotOf("node n[1-12] gpu4090:4 cpus 64 mem 500000\nrun " +
                                 std::to_string(kNewest) + " n1 gpu4090:4 ends 1d\n" + more);
  const int64_t later = std::time(nullptr) - snapshot.taken_at;
  snapshot.taken_at += later;
  snapshot.cluster = "seed";
  snapshot.source = "slurm-cli";
  for (Job& job : snapshot.jobs) {
    job.uid = job.id == kNewest ? 1'000 : kBob;
    job.submit_time = job.eligible_time = snapshot.taken_at - 60;
    if (job.start_time) job.start_time = snapshot.taken_at - 30;
    if (job.end_time) *job.end_time += later;
  }
  std::string batch;
  WriteBatch(snapshot, TableSet::All(),
             [&](std::string_view line) { batch.append(line).append("\n"); });
  return batch;
}

// One user's connection.
class Caller {
 public:
  explicit Caller(const std::string& socket) : peer_(socket) {}

  int status() const { return status_; }

  json Ask(const std::string& request) {
    const auto reply = peer_.Ask(request);
    status_ = reply ? reply->status : 0;
    return reply ? json::parse(reply->body, nullptr, false) : json();
  }

  std::string Advice() {
    return Ask(Post("/v1/advise", json{{"spec",
                                        {{"name", "t"},
                                         {"model", {{"preset", "gr00t-n1-2b"}}},
                                         {"env", {{"HF_TOKEN", "hf_SECRET"}}},
                                         {"command", "hf_SECRET {micro_batch}"},
                                         {"resources", {{"cpus_per_gpu", 1}}},
                                         {"training", {{"max_steps", 100'000}}}}}}
                                      .dump()))
        .value("advice_id", "");
  }

  // Whether it was taken.
  bool Claim(const std::string& advice, int64_t job) {
    Ask(Post("/v1/advice/" + advice + "/submitted", json{{"job_id", job}, {"rank", 1}}.dump()));
    return status_ == 200;
  }

  json WaitSeconds() {
    const json job = {{"gres", "gpu:gpu4090:4"}, {"time_limit_seconds", 3'600}};
    const json answer = Ask(Post("/v1/when", json{{"jobs", {job}}}.dump()));
    const json wait = answer.value("/answers/0/wait_p50_seconds"_json_pointer, json());
    return wait.is_number() ? wait : answer;
  }

 private:
  HttpPeer peer_;
  int status_ = 0;
};

class ClaimsOfUsers : public testing::Test {
 protected:
  void SetUp() override {
    if (getuid() != 0) GTEST_SKIP() << "only root can be several users";
    const std::string folder = fs::path(daemon_.socket_path()).parent_path();
    fs::permissions(folder, fs::perms(0755));
    ASSERT_EQ(mkfifo((folder + "/next").c_str(), 0600), 0);
    daemon_.folder().Write("batch", BatchOf(""));
    daemon_.CollectorIs("cat $BATCH; while cat " + folder + "/next; do :; done");
    daemon_.SettingsAre("source: slurm-cli\naccounting_interval: 0s\nstate_dir: " + folder +
                        "/state\n");
  }

  void Begin() {
    ASSERT_TRUE(daemon_.Start());
    ASSERT_TRUE(daemon_.Shows("/healthz", R"("status":"ok")"));
  }

  // The collector prints `batch`; what is seen of it says `text` under `path`.
  void NextSnapshot(const std::string& batch, const std::string& path, const std::string& text) {
    daemon_.folder().Write("next", batch);
    ASSERT_TRUE(daemon_.Shows(path, text));
  }

  // What `what` gives in a process of that user's.
  json As(uid_t uid, const std::function<json(Caller&)>& what) const {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      if (setgid(uid) != 0 || setuid(uid) != 0) _exit(1);
      Caller caller(daemon_.socket_path());
      const std::string text = what(caller).dump();
      size_t written = 0;
      while (written < text.size()) {
        const ssize_t more = write(ends[1], text.data() + written, text.size() - written);
        if (more < 0) _exit(1);
        written += static_cast<size_t>(more);
      }
      _exit(0);
    }
    close(ends[1]);
    std::string text;
    char some[4'096];
    for (ssize_t more = 0; (more = read(ends[0], some, sizeof some)) > 0;) {
      text.append(some, static_cast<size_t>(more));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    return json::parse(text, nullptr, false);
  }

  int64_t BytesOnDisk() const {
    int64_t bytes = 0;
    for (const auto& entry : fs::directory_iterator(daemon_.folder().Path("state"))) {
      bytes += static_cast<int64_t>(entry.file_size());
    }
    return bytes;
  }

  bool DiskHas(const std::string& text) const {
    for (const auto& entry : fs::directory_iterator(daemon_.folder().Path("state"))) {
      const std::string name = "state/" + entry.path().filename().string();
      if (daemon_.folder().Read(name).find(text) != std::string::npos) return true;
    }
    return false;
  }

  RunningDaemon daemon_;
};

// Forty invented jobs of four GPUs each: a tenth of them would take all that is free.
json InventForty(Caller& caller, int64_t first) {
  const std::string advice = caller.Advice();
  size_t taken = 0;
  for (int64_t job = first; job < first + 40; ++job) taken += caller.Claim(advice, job) ? 1 : 0;
  return taken;
}

TEST_F(ClaimsOfUsers, InventedJobsLeaveAnothersWaitAlone) {
  Begin();
  const json before = As(kBob, [](Caller& bob) { return bob.WaitSeconds(); });
  EXPECT_EQ(before, 0.0);
  EXPECT_EQ(As(kEve, [](Caller& eve) { return InventForty(eve, 9'000'000); }), 0u)
      << "Slurm is nowhere near them";
  EXPECT_EQ(As(kEve, [](Caller& eve) { return InventForty(eve, kNewest + 100); }), 40u);
  EXPECT_EQ(As(kBob, [](Caller& bob) { return bob.WaitSeconds(); }), before);
}

TEST_F(ClaimsOfUsers, TheSnapshotDecidesWhoseAReportedJobIs) {
  Begin();
  for (const uid_t user : {kEve, kBob}) {
    EXPECT_TRUE(As(user, [](Caller& caller) {
                  return caller.Claim(caller.Advice(), kNewest + 1);
                }).get<bool>());
  }
  const std::string job = "/v1/jobs/" + std::to_string(kNewest + 1);
  const std::string row = "/v1/advice?job=" + std::to_string(kNewest + 1);
  EXPECT_FALSE(As(kBob, [&](Caller& bob) { return bob.Ask(Get(job)).contains("job_id"); }));
  EXPECT_EQ(As(kBob, [&](Caller& bob) { return bob.Ask(Get(row))["jobs"][0]["state"]; }),
            "pending");
  const std::string shown =
      "pend " + std::to_string(kNewest + 1) + " gpu4090:4 limit 1h user bob\n";
  NextSnapshot(BatchOf(shown), job, "bob");
  EXPECT_EQ(As(kBob, [&](Caller& bob) { return bob.Ask(Get(row))["jobs"].size(); }), 1u);
  EXPECT_FALSE(
      As(kEve, [&](Caller& eve) { return eve.Ask(Get(row)).contains("jobs"); }).get<bool>())
      << "the claim to bob's job died";
}

TEST_F(ClaimsOfUsers, AFloodOfOutcomesStaysSmallAndHoldsNoSecret) {
  Begin();
  json attempt = {{"seconds", 60}, {"began", 1}, {"exit_code", 0}, {"micro_batch", 1}};
  attempt["gpus"] = json(
      std::vector<json>(60, {{"peak_memory_bytes", 1'000'000}, {"memory_total_bytes", 2'000'000}}));
  const json counts = As(kEve, [&](Caller& eve) {
    const std::string advice = eve.Advice();
    json taken = {{"whole", 0}, {"large", 0}};
    for (int64_t job = kNewest + 1; job <= kNewest + 100; ++job) {
      if (!eve.Claim(advice, job)) continue;
      json outcome = {{"version", 1}, {"job_id", std::to_string(job)}};
      for (const auto& [name, attempts] : {std::pair{"whole", 14}, {"large", 100}}) {
        outcome["attempts"] = json(std::vector<json>(static_cast<size_t>(attempts), attempt));
        eve.Ask(Post("/v1/outcomes", outcome.dump()));
        if (eve.status() == 200) taken[name] = taken[name].get<int>() + 1;
      }
    }
    return taken;
  });
  EXPECT_EQ(counts["whole"], 100) << "as ours sends them";
  EXPECT_EQ(counts["large"], 0);
  daemon_.Signal(SIGTERM);
  EXPECT_EQ(daemon_.AwaitEnd(), "exited with status 0");
  EXPECT_LE(BytesOnDisk(), int64_t{100} * 2 * int64_t{kMaxSentOutcomeBytes});
  EXPECT_FALSE(DiskHas("hf_SECRET"));
}

TEST_F(ClaimsOfUsers, AnAcknowledgedClaimSurvivesAKillAndIsSettledThen) {
  Begin();
  EXPECT_TRUE(As(kBob, [](Caller& bob) {
                return bob.Claim(bob.Advice(), kNewest + 1) && bob.Claim(bob.Advice(), kNewest + 2);
              }).get<bool>());
  // What is asked of the history waits until all before is written.
  As(kBob, [](Caller& bob) { return bob.Ask(Get("/v1/advice?job=1")); });
  daemon_.Signal(SIGKILL);
  daemon_.AwaitEnd();
  daemon_.folder().Write(
      "batch", BatchOf("pend " + std::to_string(kNewest + 1) + " gpu4090:4 limit 1h user bob\n"));
  Begin();
  const json rows =
      As(kBob, [](Caller& bob) { return bob.Ask(Get("/v1/advice?job=5001"))["jobs"]; });
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0]["state"], "pending");
  EXPECT_TRUE(rows[0]["advice_id"].is_string());
}

}  // namespace
}  // namespace gpuadvise::daemon
