#include "daemon/collect/sdiag.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/collect/captured_text.h"

namespace gpuadvise::collect {
namespace {

TEST(Sdiag, TellsTheCyclesOfBothSchedulersTheirQueuesAndAllRpcs) {
  const SchedulerHealth health = ParseSdiag(CapturedText("sdiag.txt"));
  EXPECT_EQ(health.read_at, 1795930604);
  EXPECT_EQ(health.since, 1795930584);
  EXPECT_EQ(health.main, (SchedulerCycles{15, 21, 48, 10, 0, 0}));
  EXPECT_EQ(health.backfill, (SchedulerCycles{10837, 10837, 10837, 1, 3, 3}));
  EXPECT_EQ(health.backfilled_jobs, 3);
  EXPECT_EQ(health.rpcs, 21 + 3 + 2 + 2 + 1);
  EXPECT_EQ(health.rpc_us, 48287 + 13454 + 3994 + 1139 + 1445);
  EXPECT_EQ(health.server_threads, 3);
  EXPECT_EQ(health.agent_queue, 0);
  EXPECT_EQ(health.problem, "");
}

TEST(Sdiag, WhatIsNotPrintedIsAbsent) {
  EXPECT_EQ(ParseSdiag(""), SchedulerHealth());
  const SchedulerHealth health =
      ParseSdiag("Main schedule statistics (microseconds):\n\tLast cycle:   7\n");
  EXPECT_EQ(health.main.last_us, 7);
  EXPECT_EQ(health.main.mean_us, std::nullopt);
  EXPECT_EQ(health.backfill, SchedulerCycles());
  EXPECT_EQ(health.rpcs, std::nullopt);
}

TEST(Sdiag, NumbersThatNoCounterHasAreAbsentOrCapped) {
  const SchedulerHealth health = ParseSdiag(
      "Server thread count:  -3\nAgent queue size:     99999999999999999999\n"
      "Remote Procedure Call statistics by message type\n"
      "\tA ( 1) count:1125899906842624 ave_time:1 total_time:1125899906842624\n"
      "\tB ( 2) count:1125899906842624 ave_time:1 total_time:1125899906842624\n");
  EXPECT_EQ(health.server_threads, std::nullopt);
  EXPECT_EQ(health.agent_queue, std::nullopt);
  EXPECT_EQ(health.rpcs, int64_t{1} << 50);
}

// slurmrestd of 22.05.8; all versions of the API have these names.
const char* const kDiag = "../data/rest/diag_22.05_v38.json";

TEST(Sdiag, SlurmrestdTellsTheSameFigures) {
  const RestJson answer = ReadRestJson(CapturedText(kDiag)).value_or(RestJson());
  const SchedulerHealth health = RestHealth(answer);
  EXPECT_EQ(health.read_at, 1795949723);
  EXPECT_EQ(health.since, 1795949718);
  EXPECT_EQ(health.main, (SchedulerCycles{14, 10, 14, 3, 0, 0}));
  EXPECT_EQ(health.backfill, (SchedulerCycles{946, 946, 946, 1, 1, 1}));
  EXPECT_EQ(health.backfilled_jobs, 1);
  EXPECT_EQ(health.rpcs, 1 + 2 + 2 + 3 + 1);
  EXPECT_EQ(health.rpc_us, 186 + 67420 + 399 + 974 + 1423);
  EXPECT_EQ(health.server_threads, 3);
  EXPECT_EQ(health.agent_queue, 0);
}

TEST(Sdiag, NewerSlurmrestdsSayWhetherANumberIsSet) {
  const RestJson answer = RestJson::parse(R"({"statistics": {
      "req_time": {"set": true, "infinite": false, "number": 1795949723},
      "req_time_start": {"set": false, "infinite": false, "number": 0},
      "schedule_cycle_total": 2, "schedule_cycle_mean": -7, "agent_queue_size": -3,
      "bf_cycle_counter": 0, "bf_cycle_mean": 0, "bf_depth_mean": 0, "bf_queue_len": 4,
      "rpcs_by_message_type": [{"count": 4}, {"count": 2, "total_time": 9}, "x"]}})");
  const SchedulerHealth health = RestHealth(answer);
  EXPECT_EQ(health.read_at, 1795949723);
  EXPECT_EQ(health.since, std::nullopt);
  EXPECT_EQ(health.main.mean_us, std::nullopt);
  EXPECT_EQ(health.agent_queue, std::nullopt);
  SchedulerCycles backfill;
  backfill.cycles = 0;
  backfill.queue_length = 4;
  EXPECT_EQ(health.backfill, backfill);
  EXPECT_EQ(health.rpcs, 2);
  EXPECT_EQ(health.rpc_us, 9);
  for (const char* none : {"{}", R"({"statistics": 7})", R"({"statistics": []})"}) {
    EXPECT_EQ(RestHealth(RestJson::parse(none)), SchedulerHealth()) << none;
  }
}

RC_GTEST_PROP(Sdiag, AnyLinesAreReadWithoutANegativeNumber, (const std::vector<uint8_t>& picks)) {
  const std::string text = CapturedText("sdiag.txt");
  std::string shuffled;
  for (const uint8_t pick : picks) {
    const size_t at = text.size() * pick / 256;
    shuffled += text.substr(at, text.find('\n', at) - at + (pick % 3 == 0 ? 0 : 1));
  }
  const SchedulerHealth health = ParseSdiag(shuffled);
  for (const auto& number :
       {health.main.last_us, health.backfill.max_us, health.rpcs, health.rpc_us}) {
    RC_ASSERT(!number || *number >= 0);
  }
}

}  // namespace
}  // namespace gpuadvise::collect
