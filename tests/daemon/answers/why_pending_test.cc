#include "common/forecast/why_pending.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "common/forecast/cheaper_start.h"
#include "common/forecast/queue_starts.h"
#include "common/history/forecast_history.h"
#include "common/slurm/pending_reason.h"
#include "daemon/answers/answers.h"
#include "daemon/answers/views.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
constexpr int64_t kHour = 3'600;

TEST(PendingReason, SaysWhatSlurmsWordsMean) {
  EXPECT_EQ(ExplainPendingReason("Priority").meaning, "other jobs are ahead of it");
  EXPECT_EQ(ExplainPendingReason("JobHeldUser").clears, "scontrol release JOBID");
  EXPECT_EQ(ExplainPendingReason("(Resources)").meaning,
            "it is next in line and waits for free nodes");
  EXPECT_EQ(ExplainPendingReason("ReqNodeNotAvail, UnavailableNodes:n[1-2]").meaning,
            "nodes it needs are down, drained or reserved");
  EXPECT_EQ(ExplainPendingReason("").meaning, "Slurm has not considered it yet");
}

TEST(PendingReason, ReadsLimitsByTheirParts) {
  const std::map<std::string, std::string> limits = {
      {"QOSMaxGRESPerUser", "its QOS limits how many GPUs per user"},
      {"QOSMaxJobsPerUserLimit", "its QOS limits how many jobs per user"},
      {"QOSGrpGRES", "its QOS limits how many GPUs in total"},
      {"QOSGrpCPUMinutesLimit", "its QOS limits how many CPU minutes in total"},
      {"QOSMaxCpuPerJobLimit", "its QOS limits how many CPUs per job, and it asks for more"},
      {"QOSMaxWallDurationPerJobLimit",
       "its QOS limits how much time per job, and it asks for more"},
      {"QOSMinGRES", "its QOS requires every job to ask for at least a minimum (GPUs)"},
      {"AssocGrpMemLimit", "its account limits how much memory in total"},
      {"AssocMaxJobsLimit", "its account limits how many jobs per user"},
      {"QOSMaxNodePerAccount", "its QOS limits how many nodes per account"},
      {"MaxMemPerLimit", "it asks for more memory per CPU or node than is allowed"}};
  for (const auto& [reason, meaning] : limits) {
    EXPECT_EQ(ExplainPendingReason(reason).meaning, meaning) << reason;
    EXPECT_NE(ExplainPendingReason(reason).clears, "") << reason;
  }
}

TEST(PendingReason, AWordNobodyKnowsIsSlurmsOwn) {
  EXPECT_EQ(ExplainPendingReason("MoonPhase").meaning, "Slurm says MoonPhase");
}

struct Site {
  explicit Site(const std::string& text)
      : snapshot(std::make_shared<const Snapshot>(SnapshotOf(text))),
        queue(PrepareQueue(*snapshot)) {}

  const Job& At(int64_t id) const {
    for (const Job& job : snapshot->jobs) {
      if (job.id == id) return job;
    }
    throw std::out_of_range("job");
  }

  std::string Why(int64_t id) const {
    const auto start = StartOfWaiting(*queue, At(id), At(id).request);
    std::string text;
    for (const WhyPending& why : ExplainWait(At(id), *queue, start ? &*start : nullptr)) {
      text += why.words + " -> " + why.clears + "\n";
    }
    return text;
  }

  AdviceContext Context() const {
    return {*snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  }

  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const QueueModel> queue;
};

TEST(ExplainWait, NamesTheLimitWithWhatIsUsed) {
  const Site site(
      "config enforce limits\nnode n[1-2] a100:4\nqos normal per-user gres/gpu=4\n"
      "assoc lab user ann\nrun 1 n1 a100:3 ends 2h\n"
      "pend 2 a100:2 reason QOSMaxGRESPerUser limit 1h");
  EXPECT_EQ(site.Why(2),
            "its QOS limits how many GPUs per user -> when jobs of the same user end\n"
            "QOS normal for user ann on gres/gpu: 3 of 4 in use, it needs 2 -> when 1 of them are "
            "released\n");
}

TEST(ExplainWait, NamesNodesThatAreOut) {
  const Site site(
      "node n[1-2] a100:4\nnode n[3-4] a100:4 state DRAIN reason fan\nnode c1 cpus 8\n"
      "run 1 n[1-2] a100:4 ends 2h\npend 2 a100:4 reason Resources limit 1h");
  EXPECT_NE(site.Why(2).find("2 of 4 nodes it could use cannot run jobs: n[3-4] drained (fan)"),
            std::string::npos)
      << site.Why(2);
}

TEST(ExplainWait, CountsWhoStandsBeforeIt) {
  const Site site(
      "node n1 a100:4\nrun 1 n1 a100:4 ends 2h\npend 2 a100:4 limit 1h\n"
      "pend 3 a100:4 limit 1h\npend 4 a100:4 reason Priority limit 1h");
  EXPECT_NE(site.Why(4).find("2 waiting jobs ahead of it"), std::string::npos) << site.Why(4);
}

TEST(ExplainWait, SaysWhatItDependsOnAndWhenItBegins) {
  const Site site(
      "node n1 a100:4\nrun 1 n1 a100:4 ends 2h\n"
      "pend 2 a100:4 reason Dependency dependency afterok:1 limit 1h\n"
      "pend 3 a100:4 reason BeginTime begin 5h limit 1h");
  EXPECT_NE(site.Why(2).find("it waits for job 1, which runs"), std::string::npos);
  EXPECT_NE(site.Why(3).find("begin time -> in 5 h"), std::string::npos) << site.Why(3);
}

TEST(StartOfWaiting, IsThatOfTheJobItself) {
  const Site site(
      "node n1 a100:4\nrun 1 n1 a100:4 ends 2h\npend 2 a100:4 limit 3h\npend 3 a100:4 limit 1h");
  EXPECT_EQ(StartOfWaiting(*site.queue, site.At(2), site.At(2).request)->wait_seconds.front(),
            2 * kHour);
  EXPECT_EQ(StartOfWaiting(*site.queue, site.At(3), site.At(3).request)->wait_seconds.front(),
            5 * kHour);
}

TEST(StartOfWaiting, KeepsItsPlaceWhenItAsksForSomethingElse) {
  const Site site(
      "node n1 a100:4\nrun 1 n1 a100:2 ends 2h\npend 2 a100:4 limit 3h\npend 3 a100:2 limit 4h");
  JobRequest shorter = site.At(3).request;
  shorter.time_limit_seconds = 2 * kHour;
  EXPECT_EQ(StartOfWaiting(*site.queue, site.At(3), site.At(3).request)->wait_seconds.front(),
            5 * kHour);
  EXPECT_EQ(StartOfWaiting(*site.queue, site.At(3), shorter)->wait_seconds.front(), 0);
}

TEST(StartOfWaiting, AHeldJobHasNone) {
  const Site site("node n1 a100:4\npend 2 a100:4 priority 0 reason JobHeldUser");
  EXPECT_FALSE(StartOfWaiting(*site.queue, site.At(2), site.At(2).request));
}

TEST(StartsInQueue, SaysOfEveryJobWhatIsSaidOfItAlone) {
  const Site site(
      "node n[1-2] a100:4\nnode m1 l40s:4\nrun 1 n1 a100:4 ends 2h\nrun 5 n2 a100:4 ends 3h\n"
      "pend 2 a100:4 nodes 2 limit 3h\npend 3 a100:4 limit 1h\npend 4 a100:4 limit 2h\n"
      "pend 6 l40s:2 limit 1h\npend 7 a100:1 priority 0");
  const QueueStarts starts = StartsInQueue(*site.queue);
  EXPECT_FALSE(starts.contains(7));
  for (const int64_t id : {2, 3, 4, 6}) {
    const auto alone = StartOfWaiting(*site.queue, site.At(id), site.At(id).request);
    EXPECT_EQ(starts.at(id).wait_seconds, alone->wait_seconds) << id;
    EXPECT_EQ(starts.at(id).jobs_before, alone->jobs_before) << id;
  }
}

TEST(StartsInQueue, WithAPastEveryJobHasARange) {
  ForecastHistory past;
  const auto snapshot = std::make_shared<const Snapshot>(
      SnapshotOf("node n1 a100:4\nrun 1 n1 a100:4 ends 2h\npend 2 a100:4 limit 3h"));
  const auto queue = PrepareQueue(snapshot, past);
  const QueueStarts starts = StartsInQueue(*queue);
  EXPECT_LT(starts.at(2).Quantile(0.1), starts.at(2).Quantile(0.9));
  EXPECT_LE(starts.at(2).Quantile(0.9), 2 * kHour + 60);
}

std::string Cheaper(const std::string& text, const std::string& request) {
  const auto snapshot = SnapshotOf(text);
  const auto queue = PrepareQueue(snapshot);
  const Submitter bob{1002, "bob", "", ""};
  const auto ask = [&](const JobRequest& other) { return StartOf(*queue, other, bob); };
  const auto start = ask(RequestOf(request));
  std::string words;
  for (const CheaperStart& one : CheaperStarts(snapshot, RequestOf(request), *start, ask,
                                               [](const JobRequest&) { return true; })) {
    words += InWords(one, *start) + "\n";
  }
  return words;
}

TEST(CheaperStarts, AShorterLimitFewerGpusAnotherTypeAnotherPartition) {
  EXPECT_EQ(Cheaper("node n1 a100:4\nnode m1 l40s:4\npartition main n1,m1 default\n"
                    "partition spare k1\nnode k1 a100:4\n"
                    "run 1 n1 a100:3 ends 2h\npend 2 a100:4 limit 3h in main",
                    "a100:4 limit 8h in main"),
            "with --gres=gpu:l40s:4 it would start now\n"
            "with -p spare it would start now\n");
  EXPECT_EQ(
      Cheaper("node n1 a100:4\nrun 1 n1 a100:2 ends 3h\npend 2 a100:4 limit 9h", "a100:2 limit 8h"),
      "with -t 02:00:00 it would start now\n");
  EXPECT_EQ(Cheaper("node n1 a100:4\nrun 1 n1 a100:2 ends 3h", "a100:4 limit 8h"),
            "with --gres=gpu:a100:2 it would start now\n");
}

TEST(CheaperStarts, NothingForAJobThatStartsSoonOrThatNothingHelps) {
  EXPECT_EQ(Cheaper("node n1 a100:4", "a100:4 limit 8h"), "");
  EXPECT_EQ(Cheaper("node n1 a100:4\nrun 1 n1 a100:4 ends 3h", "a100:1 limit 8h"), "");
}

TEST(AnswerJob, SaysWhyAndWhenAndWhatWouldBeEarlier) {
  const Site site(
      "node n1 a100:4\nrun 1 n1 a100:2 ends 3h\npend 2 a100:4 limit 9h\n"
      "pend 3 a100:2 limit 8h reason Priority user bob");
  const auto answer = AnswerJob("3", site.Context(), {1001, "ann", "", ""});
  ASSERT_TRUE(answer);
  EXPECT_EQ((*answer)["user"], "bob");
  EXPECT_EQ((*answer)["wait_p50_seconds"], 12 * kHour);
  EXPECT_EQ((*answer)["why"][0]["words"], "other jobs are ahead of it");
  EXPECT_EQ((*answer)["cheaper"][0]["change"], "-t 02:00:00");
  const auto newer = AnswerJob("77", site.Context(), {});
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("submitted just now"), std::string::npos);
  EXPECT_EQ(AnswerJob("x", site.Context(), {}).error().code, ErrorCode::kBadInput);
}

TEST(AnswerJob, LimitsAndPrioritiesOfSomebodyElseAreNotTold) {
  const Site site(
      "config enforce limits\nnode n[1-2] a100:4\nqos normal per-user gres/gpu=4\n"
      "assoc lab user ann\nrun 1 n1 a100:3 ends 2h\n"
      "pend 2 a100:2 reason QOSMaxGRESPerUser limit 1h");
  EXPECT_NE(AnswerJob("2", site.Context(), {0, "root", "", ""})->dump().find("user ann"),
            std::string::npos);
  const json told = *AnswerJob("2", site.Context(), {});
  EXPECT_EQ(told.dump().find("ann"), std::string::npos) << told.dump(1);
  EXPECT_EQ(told["why"].size(), 1u);
  EXPECT_TRUE(told["priority_factors"].is_null());
}

TEST(AnswerQueue, HidesOthersWherePrivateDataDoes) {
  Snapshot snapshot = SnapshotOf("node n1 a100:4\nrun 1 n1 a100:4 ends 2h\npend 2 a100:4 user bob");
  snapshot.config.private_data = "jobs,usage";
  snapshot.jobs[1].uid = 1002;
  const auto queue = PrepareQueue(snapshot);
  const AdviceContext context{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  const auto starts = StartsInQueue(*queue);
  const Submitter ann{1001, "ann", "", ""};
  const json all = AnswerQueue({}, context, starts, ann);
  EXPECT_EQ(all["total"], 2);
  EXPECT_EQ(all["jobs"][0]["job_id"], 2);  // who waits comes first
  EXPECT_TRUE(all["jobs"][0]["user"].is_null());
  EXPECT_EQ(all["jobs"][1]["user"], "ann");
  QueueFilter of_bob;
  of_bob.user = "bob";
  EXPECT_EQ(AnswerQueue(of_bob, context, starts, ann)["total"], 0);
  EXPECT_EQ(AnswerQueue(of_bob, context, starts, {1002, "bob", "", ""})["total"], 1);
}

TEST(AnswerQueue, AnAnonymousCallerSeesNoNamesAndNoHiddenPartitions) {
  Snapshot snapshot = SnapshotOf(
      "node n[1-2] a100:4\npartition open n1 default\npartition secret n2\n"
      "run 1 n1 a100:4 ends 2h in open\nrun 2 n2 a100:4 ends 2h in secret");
  snapshot.partitions[1].hidden = true;
  const auto queue = PrepareQueue(snapshot);
  const AdviceContext context{snapshot, *queue, *queue, ShippedGpus(), ShippedModels()};
  const json all = AnswerQueue({}, context, StartsInQueue(*queue), {});
  EXPECT_EQ(all["total"], 1);
  EXPECT_TRUE(all["jobs"][0]["user"].is_null());
}

}  // namespace
}  // namespace gpuadvise::daemon
