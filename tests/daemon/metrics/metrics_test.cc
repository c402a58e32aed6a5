// What a scrape says of a cluster in text, and to whom.
#include "daemon/metrics/metrics.h"

#include <gtest/gtest.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "daemon/metrics/forecast_metrics.h"
#include "tests/daemon/answers/answer_world.h"
#include "tests/daemon/api/handlers_fixture.h"
#include "tests/daemon/patience.h"

namespace gpuadvise::daemon {
namespace {

const Peer kRoot{0, false};

class MetricsTest : public HandlersTest {
 protected:
  MetricsTest() { state_.metrics = &metrics_; }

  std::string Scrape(const Peer& peer = kRoot) { return Raw("GET", "/metrics", "", peer).body; }

  Metrics metrics_{{cluster_, history_, clock_,
                    [](const Snapshot*) { return std::chrono::hours(1); }, [] { return 3; }}};
};

// The value of the series, written as in a scrape; "" where it is not there.
std::string ValueOf(const std::string& text, const std::string& series) {
  const size_t at = ("\n" + text).find("\n" + series + " ");
  if (at == std::string::npos) return "";
  const size_t begin = at + series.size() + 1;
  return text.substr(begin, text.find('\n', begin) - begin);
}

// All series of one name.
std::string SeriesOf(const std::string& text, const std::string& name) {
  std::istringstream lines(text);
  std::string found;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + "{")) found += line + "\n";
  }
  return found;
}

constexpr const char* kWorld =
    "node n[1-2] a100:8 cpus 64\n"
    "node n3 a100:8 cpus 64 state DRAIN\n"
    "node n4 l40s:4 cpus 32 state MIXED\n"
    "node c1 cpus 16\n"
    "partition main n[1-3],c1 default\n"
    "partition small n4,n1\n"
    "run 1 n1 a100:8 cpus 8 ends 2h account physics in main\n"
    "run 2 n4 l40s:1 cpus 4 ends 2h account bio in small\n"
    "pend 3 a100:8 limit 1h account physics in main reason Resources\n"
    "pend 4 a100:2 limit 1h account bio in main count 5 reason Priority\n"
    "pend 5 l40s:1 limit 1h account bio in small dependency afterok:1 reason Dependency\n";

std::string ClusterTextOf(const Snapshot& snapshot, const MetricsReader& reader = {true, true}) {
  return MetricText(ClusterMetrics(snapshot, ShippedGpus(), reader));
}

TEST(ClusterMetrics, CountEachGpuOnceAndWhatEachPartitionHas) {
  const std::string text = ClusterTextOf(SnapshotOf(kWorld));
  EXPECT_EQ(ValueOf(text, "gpuadvise_gpus{gpu=\"l40s\",state=\"used\"}"), "1");
  EXPECT_EQ(ValueOf(text, "gpuadvise_gpus{gpu=\"l40s\",state=\"free\"}"), "3");
  EXPECT_EQ(
      ValueOf(text, "gpuadvise_partition_gpus{partition=\"small\",gpu=\"l40s\",state=\"free\"}"),
      "3");
  EXPECT_EQ(ValueOf(text, "gpuadvise_job_gpus{partition=\"small\",gpu=\"l40s\",state=\"pending\"}"),
            "1");
  EXPECT_EQ(ValueOf(text, "gpuadvise_account_gpus{account=\"bio\",state=\"pending\"}"), "11");
}

TEST(ClusterMetrics, JobsThatMoreThanTheLackOfRoomKeepsAreNotEligible) {
  const std::string text = ClusterTextOf(
      SnapshotOf(std::string(kWorld) +
                 "pend 6 l40s:1 limit 1h account bio in small reason QOSMaxGRESPerUser\n"
                 "pend 7 l40s:1 limit 1h account bio in small reason BeginTime begin 2h\n"
                 "pend 8 l40s:1 limit 1h account bio in small reason Resources\n"));
  EXPECT_EQ(SeriesOf(text, "gpuadvise_eligible_job_gpus"),
            "gpuadvise_eligible_job_gpus{partition=\"main\",gpu=\"a100-40gb-sxm\"} 18\n"
            "gpuadvise_eligible_job_gpus{partition=\"small\",gpu=\"l40s\"} 1\n");
}

TEST(ClusterMetrics, HiddenPartitionsAndAccountsAreForThoseWhoMaySeeThem) {
  Snapshot snapshot = SnapshotOf(kWorld);
  snapshot.partitions[1].hidden = true;
  const std::string open = ClusterTextOf(snapshot, {false, false});
  for (const char* word : {"small", "l40s", "n4", "physics", "bio", "account"}) {
    EXPECT_EQ(open.find(word), std::string::npos) << word;
  }
  const std::string gpus = SeriesOf(open, "gpuadvise_gpus");
  EXPECT_NE(gpus.find("state=\"used\"} 8\n"), std::string::npos) << open;
  EXPECT_NE(ClusterTextOf(snapshot).find("small"), std::string::npos);
}

TEST(ClusterMetrics, NamesOfAnyBytesStayLabels) {
  const std::string evil =
      "\xff\"} 1\ngpuadvise_gpus 666\n\\\x1b[31m\xe2\x80" + std::string(500, 'A');
  Snapshot snapshot = SnapshotOf(kWorld);
  snapshot.partitions[0].name = evil;
  for (Job& job : snapshot.jobs) {
    job.account = evil + job.account;  // the same once cut
    job.request.partitions = {evil};
    job.reason = evil;
  }
  const std::string text = ClusterTextOf(snapshot);
  EXPECT_EQ(text.find("\ngpuadvise_gpus 666"), std::string::npos);
  EXPECT_TRUE(nlohmann::json::accept(nlohmann::json(text).dump(
      -1, ' ', false, nlohmann::json::error_handler_t::strict)));  // strict: throws on bad UTF-8
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_NE(text.find("\\\"} 1?gpuadvise_gpus 666?\\\\"), std::string::npos);
  size_t accounts = 0;
  for (size_t at = 0; (at = text.find("\ngpuadvise_account_gpus{", at)) != std::string::npos;
       ++at) {
    ++accounts;
  }
  EXPECT_EQ(accounts, 2u);  // what looks the same is one series, running and pending
}

TEST(ClusterMetrics, AccountsBeyondTheBoundAreOneSeries) {
  std::string world = "node n[1-9] a100:8 cpus 64\n";
  for (size_t i = 0; i < kMostAccountLabels + 50; ++i) {
    world +=
        "pend " + std::to_string(i + 1) + " a100:1 limit 1h account acc" + std::to_string(i) + "\n";
  }
  const std::string text = ClusterTextOf(SnapshotOf(world));
  EXPECT_EQ(ValueOf(text, "gpuadvise_account_gpus{account=\"other\",state=\"pending\"}"), "50");
}

TEST(ClusterMetrics, TenThousandNodesAreASmallScrape) {
  const std::string text =
      ClusterTextOf(SnapshotOf("node n[1-10000] a100:8 cpus 64\npend 1 a100:4 limit 1h\n"));
  const std::string gpus = SeriesOf(text, "gpuadvise_gpus");
  EXPECT_NE(gpus.find("state=\"free\"} 80000\n"), std::string::npos) << text;
  EXPECT_LT(text.size(), 20'000u);
}

TEST(ForecastMetrics, WaitsByTypeSizeLimitAndQuantileAndAccuracyOfNothingYet) {
  const AnswerWorld world("node n1 l40s:4 cpus 32\nrun 1 n1 l40s:4 cpus 4 ends 2h\n");
  const std::string text = MetricText(ForecastMetrics(world.Context(), {}));
  EXPECT_EQ(
      ValueOf(text,
              "gpuadvise_forecast_wait_seconds{gpu=\"l40s\",gpus=\"1\",nodes=\"1\",time_limit="
              "\"8h\",quantile=\"0.5\"}"),
      "7200");
  EXPECT_EQ(ValueOf(text, "gpuadvise_forecast_scored_jobs{gpu=\"all\",gpus=\"all\"}"), "0");
  EXPECT_NE(text.find("# TYPE gpuadvise_forecast_coverage_ratio gauge"), std::string::npos);
  EXPECT_EQ(text.find("\ngpuadvise_forecast_coverage_ratio{"), std::string::npos);
}

PastJob StartedJob(int64_t id, const std::string& account, int64_t wait) {
  PastJob job;
  job.record.id = id;
  job.record.account = account;
  job.record.partition = "main";
  job.record.gpu = "l40s";
  job.record.gpus = 1;
  job.record.submit = job.record.eligible = kSnapshotTime;
  job.record.start = kSnapshotTime + wait;
  return job;
}

std::string WaitsText(const WaitHistograms& waits, const Snapshot& snapshot, bool accounts) {
  return MetricText({waits.Family(Visibility(snapshot, Submitter{0, "root", "", ""}), accounts)});
}

TEST(WaitHistograms, AStartCountsOnceWhateverElseIsToldOfIt) {
  const Snapshot snapshot = SnapshotOf(kWorld);
  WaitHistograms waits;
  PastJob before = StartedJob(9, "bio", -60);  // ran already when the daemon first looked
  waits.OnJobsChanged({before, StartedJob(1, "bio", 100)}, snapshot, ShippedGpus());
  PastJob ended = StartedJob(1, "bio", 100);
  ended.record.end = kSnapshotTime + 200;
  waits.OnJobsChanged({ended, StartedJob(2, "bio", 4000), StartedJob(3, "physics", 10'000'000)},
                      snapshot, ShippedGpus());
  const std::string text = WaitsText(waits, snapshot, true);
  const auto series = [&](const char* part, const char* account, const char* le) {
    return ValueOf(text, std::string("gpuadvise_wait_seconds_") + part +
                             "{partition=\"main\",gpu=\"l40s\",account=\"" + account + "\"" + le +
                             "}");
  };
  EXPECT_EQ(series("count", "bio", ""), "2");
  EXPECT_EQ(series("sum", "bio", ""), "4100");
  EXPECT_EQ(series("bucket", "bio", ",le=\"300\""), "1");
  EXPECT_EQ(series("bucket", "bio", ",le=\"7200\""), "2");
  EXPECT_EQ(series("bucket", "physics", ",le=\"604800\""), "0");
  EXPECT_EQ(series("bucket", "physics", ",le=\"+Inf\""), "1");
  EXPECT_EQ(WaitsText(waits, snapshot, false).find("account"), std::string::npos);
}

TEST(WaitHistograms, SeriesAreBoundedAndNothingIsLost) {
  const Snapshot snapshot = SnapshotOf(kWorld);
  WaitHistograms waits;
  std::vector<PastJob> jobs;
  for (int64_t i = 0; i < 5'000; ++i)
    jobs.push_back(StartedJob(i + 1, "a" + std::to_string(i), 10));
  waits.OnJobsChanged(jobs, snapshot, ShippedGpus());
  const prometheus::MetricFamily family =
      waits.Family(Visibility(snapshot, Submitter{0, "root", "", ""}), true);
  uint64_t count = 0;
  for (const prometheus::ClientMetric& metric : family.metric)
    count += metric.histogram.sample_count;
  EXPECT_EQ(count, 5'000u);
  EXPECT_LE(family.metric.size(), kMostWaitSeries + 1);
}

TEST_F(MetricsTest, BeforeTheFirstSnapshotTheDaemonTellsOfItself) {
  const std::string text = Scrape();
  EXPECT_EQ(ValueOf(text, "gpuadvise_snapshot_stale"), "1");
  EXPECT_EQ(ValueOf(text, "gpuadvise_snapshot_age_seconds"), "");
  EXPECT_EQ(ValueOf(text, "gpuadvise_collector_starts_total"), "3");
  EXPECT_EQ(Raw("GET", "/metrics").content_type, kMetricsContentType);
}

TEST_F(MetricsTest, WhatSlurmWasAskedAddsUp) {
  Snapshot snapshot;
  snapshot.source = "slurm-api";
  for (const int64_t requests : {6, 4, -3}) {
    snapshot.requests = requests;
    metrics_.OnJobsChanged({}, snapshot);
  }
  const std::string text = Scrape();
  EXPECT_EQ(ValueOf(text, "gpuadvise_slurm_requests_total{source=\"slurm-api\"}"), "10");
  EXPECT_EQ(ValueOf(text, "gpuadvise_snapshots_total"), "3");
}

TEST_F(MetricsTest, AccountsAreForTheSocketWherePrivateDataAllows) {
  const std::string job = "run 1 classt25 gpu4090:3 cpus 4 ends 2h account secretlab\n";
  ClusterIs(job);
  EXPECT_EQ(Scrape(kNobody).find("secretlab"), std::string::npos);
  EXPECT_NE(Scrape(kSomebodyElse).find("secretlab"), std::string::npos);
  for (const char* word : {"jobs", "accounts", "usage"}) {
    ClusterIs(job + "config private " + word + "\n");
    EXPECT_EQ(Scrape(kSomebodyElse).find("secretlab"), std::string::npos) << word;
    EXPECT_NE(Scrape(kRoot).find("secretlab"), std::string::npos) << word;
  }
}

TEST_F(MetricsTest, RequestsCountByRouteAndNeverByWhatWasSent) {
  ClusterIs("");
  Raw("GET", "/v1/gpus");
  Raw("GET", "/v1/gpus");
  Raw("GET", "/v1/jobs/17");
  Raw("GET", "/v1/nosuch\"} 1");
  Raw("BREW", "/healthz", "", kNobody);
  const std::string text = Scrape();
  const auto requests = [&](const std::string& labels) {
    return ValueOf(text, "gpuadvise_requests_total{" + labels + "}");
  };
  EXPECT_EQ(text.find("nosuch"), std::string::npos);
  EXPECT_EQ(text.find("BREW"), std::string::npos);
  EXPECT_NE(text.find("route=\"/v1/jobs/{id}\""), std::string::npos);
  EXPECT_EQ(requests("method=\"GET\",over=\"socket\",route=\"/v1/gpus\",status=\"200\""), "2");
  EXPECT_EQ(requests("method=\"GET\",over=\"socket\",route=\"none\",status=\"404\""), "1");
  EXPECT_EQ(requests("method=\"other\",over=\"tcp\",route=\"/healthz\",status=\"405\""), "1");
}

TEST_F(MetricsTest, ForecastsComeAfterTheFirstScrapeAndOfLaterSnapshotsUnasked) {
  ClusterIs("run 1 classt25 gpu4090:4 cpus 4 ends 2h\n");
  EXPECT_EQ(Scrape(kNobody).find("gpuadvise_forecast_wait_seconds"), std::string::npos);
  const auto has = [&] {
    return Scrape(kNobody).find("gpuadvise_forecast_wait_seconds{gpu=\"rtx4090\"") !=
           std::string::npos;
  };
  EXPECT_TRUE(BecomesTrue(has));
}

TEST_F(MetricsTest, AStateIsCountedAnewWhenItChanges) {
  ClusterIs("");
  EXPECT_EQ(Scrape().find("\ngpuadvise_jobs{"), std::string::npos);
  ClusterIs("pend 2 gpu4090:4 cpus 4 limit 1h\n");
  EXPECT_NE(Scrape().find("\ngpuadvise_jobs{"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
