// `gpuadvise watch` as it is seen: on a terminal and in a log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

class WatchCommandTest : public testing::Test {
 protected:
  WatchCommandTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
  int Run(bool rewrites) {
    WatchCommand command;
    command.job_id = "4711";
    return RunWatchJob(command, {"", rewrites, [this](int64_t s) { console.clock += s; }}, api,
                       console);
  }
  void AnswerJob(const json& members) {
    json job = {{"job_id", 4711}};
    job.update(members);
    api.Answer({{"jobs", {job}}});
  }
  void AnswerWaiting(double p50, double p90) {
    AnswerJob({{"state", "pending"}});
    api.Answer({{"wait_p50_seconds", p50},
                {"wait_p90_seconds", p90},
                {"reason_words", "other jobs are ahead of it"}});
  }
  void AnswerAWholeLife() {
    AnswerWaiting(60, 120);
    AnswerWaiting(30, 90);
    const json attempt = {{"steps", 100}, {"total_steps", 1000}, {"seconds_per_step", 3.5}};
    AnswerJob({{"state", "running"},
               {"started_at", kNow - 600},
               {"outcome", {{"running", true}, {"attempts", {attempt}}}}});
    AnswerJob({{"state", "ended"}, {"ended_at", kNow - 60}, {"exit_code", 0}});
  }

  FakeApi api;
  FakeConsole console;
};

TEST_F(WatchCommandTest, WithoutATerminalPrintsWhatChanged) {
  AnswerAWholeLife();
  EXPECT_EQ(Run(false), kExitOk);
  EXPECT_EQ(
      console.printed,
      "14:13  pending · starts in 1 m (2 m): today 14:14 (14:15) · other jobs are ahead of it\n"
      "14:14  running since today 14:03 · step 100/1,000 · 3.5 s a step · 53 m left\n"
      "14:14  ended today 14:12: ok\n");
}

TEST_F(WatchCommandTest, OnATerminalRewritesOneLine) {
  AnswerAWholeLife();
  console.shown.width = 60;
  EXPECT_EQ(Run(true), kExitOk);
  EXPECT_EQ(std::count(console.printed.begin(), console.printed.end(), '\n'), 1);
  EXPECT_THAT(console.printed, HasSubstr("\r14:14  ended today 14:12: ok\n"));
  EXPECT_EQ(console.printed.find('\x1b'), std::string::npos);
}

TEST_F(WatchCommandTest, ADaemonThatGoesAwayIsSaidOnStandardError) {
  AnswerWaiting(600, 1200);
  api.AnswerError({ErrorCode::kUnavailable, "nothing listens there", ""});
  api.AnswerError({ErrorCode::kUnavailable, "nothing listens there", ""});
  AnswerJob({{"state", "ended"}, {"ended_at", kNow}, {"exit_code", 3}});
  EXPECT_EQ(Run(false), kExitError);
  EXPECT_EQ(console.complained, "gpuadvise: nothing listens there; still watching\n");
  EXPECT_THAT(console.printed, HasSubstr("gpuadvised answers again\n"));
}

TEST_F(WatchCommandTest, JsonIsOneObjectALook) {
  AnswerAWholeLife();
  WatchCommand command;
  command.job_id = "4711";
  command.json = true;
  EXPECT_EQ(RunWatchJob(command, {"", true, [](int64_t) {}}, api, console), kExitOk);
  std::istringstream lines(console.printed);
  std::vector<json> looks;
  for (std::string line; std::getline(lines, line);) looks.push_back(json::parse(line));
  ASSERT_EQ(looks.size(), 4u);
  EXPECT_EQ(looks[0]["state"], "pending");
  EXPECT_EQ(looks[2]["state"], "running");
  EXPECT_TRUE(looks[2]["exit_code"].is_null());
  EXPECT_EQ(looks[3]["line"], "ended today 14:12: ok");
  EXPECT_EQ(looks[3]["exit_code"], 0);
}

TEST_F(WatchCommandTest, OnceLooksOnce) {
  AnswerWaiting(60, 120);
  WatchCommand command;
  command.job_id = "4711";
  command.once = true;
  EXPECT_EQ(RunWatchJob(command, {"", false, nullptr}, api, console), kExitOk);
  EXPECT_EQ(RunWatchJob(command, {"", false, nullptr}, api, console), kExitUnavailable);
}

TEST_F(WatchCommandTest, MessagesThatCannotBeSentAreSaidAndStopNothing) {
  AnswerAWholeLife();
  std::vector<std::string> told;
  WatchCommand command;
  command.job_id = "4711";
  const WatchPlace place{"", false, [this](int64_t s) { console.clock += s; },
                         [&](const std::string& event, const std::string&) {
                           told.push_back(event);
                           return std::vector<std::string>{"sendmail is not installed"};
                         }};
  EXPECT_EQ(RunWatchJob(command, place, api, console), kExitOk);
  EXPECT_EQ(told, (std::vector<std::string>{"started", "ended"}));
  EXPECT_THAT(console.complained, HasSubstr("gpuadvise: sendmail is not installed"));
}

}  // namespace
}  // namespace gpuadvise::client
