// `gpuadvise watch` as it is seen: on a terminal and in a log.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "client/api/exit_code.h"
#include "tests/client/fake_process.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

constexpr int64_t kNow = 1790000000;  // Mon 21 Sep 2026 14:13:20 UTC

class WatchCommandTest : public testing::Test, protected FakeProcess {
 protected:
  WatchCommandTest() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
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
};

TEST_F(WatchCommandTest, WithoutATerminalPrintsWhatChanged) {
  AnswerAWholeLife();
  EXPECT_EQ(Gpuadvise({"watch", "4711"}), kExitOk);
  EXPECT_EQ(
      console.printed,
      "14:13  pending · starts in 1 m (2 m): today 14:14 (14:15) · other jobs are ahead of it\n"
      "14:14  running since today 14:03 · step 100/1,000 · 3.5 s a step · 53 m left\n"
      "14:14  ended today 14:12: ok\n");
}

TEST_F(WatchCommandTest, OnATerminalRewritesOneLine) {
  AnswerAWholeLife();
  console.shown.width = 60;
  console.is_terminal = true;
  EXPECT_EQ(Gpuadvise({"watch", "4711"}), kExitOk);
  EXPECT_EQ(std::count(console.printed.begin(), console.printed.end(), '\n'), 1);
  EXPECT_THAT(console.printed, HasSubstr("\r14:14  ended today 14:12: ok\n"));
  EXPECT_EQ(console.printed.find('\x1b'), std::string::npos);
}

TEST_F(WatchCommandTest, ADaemonThatGoesAwayIsSaidOnStandardError) {
  AnswerWaiting(600, 1200);
  api.AnswerError({ErrorCode::kUnavailable, "nothing listens there", ""});
  api.AnswerError({ErrorCode::kUnavailable, "nothing listens there", ""});
  AnswerJob({{"state", "ended"}, {"ended_at", kNow}, {"exit_code", 3}});
  EXPECT_EQ(Gpuadvise({"watch", "4711"}), kExitError);
  EXPECT_EQ(console.complained, "gpuadvise: nothing listens there; still watching\n");
  EXPECT_THAT(console.printed, HasSubstr("gpuadvised answers again\n"));
}

TEST_F(WatchCommandTest, JsonIsOneObjectALook) {
  AnswerAWholeLife();
  EXPECT_EQ(Gpuadvise({"watch", "4711", "--json"}), kExitOk);
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
  EXPECT_EQ(Gpuadvise({"watch", "4711", "--once"}), kExitOk);
  EXPECT_EQ(Gpuadvise({"watch", "4711", "--once"}), kExitUnavailable);
  EXPECT_TRUE(slept.empty());
}

TEST_F(WatchCommandTest, LooksEveryThirtySecondsOrAsOftenAsIsSaid) {
  AnswerAWholeLife();
  EXPECT_EQ(Gpuadvise({"watch", "4711"}), kExitOk);
  EXPECT_EQ(slept, std::vector<double>(3, 30));
  slept.clear();
  AnswerAWholeLife();
  EXPECT_EQ(Gpuadvise({"watch", "4711", "--interval", "5"}), kExitOk);
  EXPECT_EQ(slept, std::vector<double>(3, 5));
}

class WatchExecTest : public WatchCommandTest {
 protected:
  // Watches the job to the end with this command of the shell.
  int RunExec(const std::string& command_line) {
    return Gpuadvise({"watch", "4711", "--exec", command_line});
  }
  std::string KeptText() {
    std::ostringstream text;
    text << std::ifstream(folder.Path("kept")).rdbuf();
    return text.str();
  }
  // A command that keeps these variables of each event.
  std::string Keep(const std::string& variables) {
    return "printf '%s\\n' \"" + variables + "\" >> " + folder.Path("kept");
  }

  TemporaryFolder folder;
};

TEST_F(WatchExecTest, RunsTheCommandAtEachEvent) {
  AnswerAWholeLife();
  EXPECT_EQ(RunExec(Keep("$GPUADVISE_JOB_ID $GPUADVISE_EVENT $GPUADVISE_STATE $GPUADVISE_REASON|"
                         "$GPUADVISE_TEXT")),
            kExitOk);
  EXPECT_EQ(KeptText(),
            "4711 started running |running since today 14:03 · step 100/1,000 · 3.5 s a step · "
            "53 m left.\n"
            "4711 ended ended ok|ended today 14:12: ok.\n");
  EXPECT_EQ(console.complained, "");
}

TEST_F(WatchExecTest, SaysHowAJobFailed) {
  AnswerWaiting(60, 120);
  AnswerJob({{"state", "ended"}, {"exit_code", 1}, {"attempts", 2}, {"out_of_memory", 2}});
  EXPECT_EQ(RunExec(Keep("$GPUADVISE_EVENT: $GPUADVISE_REASON")), kExitError);
  EXPECT_EQ(KeptText(), "ended: out of memory\n");
}

TEST_F(WatchExecTest, NamesOfOthersAreInTheEnvironmentAlone) {
  AnswerJob({{"state", "pending"}, {"name", "$(touch x); `y`\n\x1b[31m\x01 é"}});
  api.Answer({{"wait_p50_seconds", 9}, {"wait_p90_seconds", 9}, {"reason_words", "';exit 9;'"}});
  AnswerJob({{"state", "ended"}, {"exit_code", 0}, {"name", "$(touch x); `y`\n\x1b[31m\x01 é"}});
  EXPECT_EQ(RunExec(Keep("$GPUADVISE_JOB_NAME")), kExitOk);
  EXPECT_EQ(KeptText(), "$(touch x); `y`??[31m? é\n");
}

TEST_F(WatchExecTest, AFailureIsSaidOnceAndStopsNothing) {
  AnswerAWholeLife();
  EXPECT_EQ(RunExec("echo 'no route' >&2; echo more >&2; exit 3"), kExitOk);
  EXPECT_EQ(console.complained,
            "gpuadvise: the command of --exec exited with status 3: no route\n");
  EXPECT_THAT(console.printed, HasSubstr("ended today 14:12: ok\n"));
}

TEST_F(WatchExecTest, AnotherFailureIsSaidToo) {
  AnswerAWholeLife();
  EXPECT_EQ(RunExec("test $GPUADVISE_EVENT = ended && exit 4; exit 3"), kExitOk);
  EXPECT_EQ(console.complained,
            "gpuadvise: the command of --exec exited with status 3\n"
            "gpuadvise: the command of --exec exited with status 4\n");
}

TEST_F(WatchExecTest, OneThatHangsIsKilledAtItsDeadline) {
  AnswerAWholeLife();
  exec_limit = std::chrono::milliseconds(200);
  EXPECT_EQ(RunExec("sleep 1000 & wait"), kExitOk);
  EXPECT_EQ(console.complained,
            "gpuadvise: the command of --exec was killed: it ran for more than 0.2 s\n");
}

TEST_F(WatchExecTest, ItsOutputIsNotMixedWithTheWatch) {
  AnswerAWholeLife();
  EXPECT_EQ(RunExec("echo noise; yes | head -c 3000000"), kExitOk);
  EXPECT_THAT(console.printed, Not(HasSubstr("noise")));
  EXPECT_EQ(console.complained, "");
}

}  // namespace
}  // namespace gpuadvise::client
