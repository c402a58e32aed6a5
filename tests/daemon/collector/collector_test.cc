#include "daemon/collector/collector.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "daemon/base/line_splitter.h"
#include "tests/daemon/http/io_runner.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using std::chrono::milliseconds;

// Understands a tiny language of lines: "batch", "error TEXT"; all else is rubbish.
class ScriptedSink : public CollectorSink {
 public:
  void Begin() override { lines_ = LineSplitter(1000); }

  CollectorProgress Feed(std::string_view bytes) override {
    CollectorProgress progress;
    lines_.Feed(bytes, [&](std::string_view line) {
      if (line == "batch") {
        ++batches_;
        progress = {true, true, std::nullopt, std::nullopt};
      } else if (line.rfind("error ", 0) == 0) {
        progress.alive = true;
        progress.error = std::string(line.substr(6));
      } else {
        progress.rubbish = "it printed an invalid record: " + std::string(line);
      }
    });
    return progress;
  }

  int batches() const { return batches_; }

 private:
  std::atomic<int> batches_ = 0;
  LineSplitter lines_{1000};
};

class CollectorTest : public testing::Test {
 protected:
  ~CollectorTest() override {
    collector_.Stop();
    workers_.join();
  }

  CollectorCandidate Script(const std::string& name, const std::string& body) {
    return {name, {{folder_.WriteScript(name, body)}, {}}, false};
  }

  // With pauses so short that a test may wait for them.
  static CollectorPlan PlanOf(std::vector<CollectorCandidate> candidates) {
    CollectorPlan plan;
    plan.candidates = std::move(candidates);
    plan.first_pause = milliseconds(1);
    plan.longest_pause = milliseconds(20);
    return plan;
  }

  // False, and the test has failed, when that takes unreasonably long.
  bool RunUntilTrue(const std::function<bool()>& done) {
    RunUntil(io_, done);
    return !HasFatalFailure();
  }

  bool HasCause(const std::string& cause) const {
    return std::find(causes_.begin(), causes_.end(), cause) != causes_.end();
  }

  std::string LastCause() const { return causes_.empty() ? "" : causes_.back(); }

  TempFolder folder_;
  boost::asio::io_context io_;
  boost::asio::thread_pool workers_{1};
  ScriptedSink sink_;
  std::vector<std::string> causes_;
  std::vector<std::string> passed_over_;
  Collector collector_{io_, workers_, sink_,
                       [this](std::string cause) { causes_.push_back(std::move(cause)); },
                       [this](std::string causes) { passed_over_.push_back(std::move(causes)); }};
};

constexpr const char* kSteady = "echo batch; exec sleep 1000";

TEST_F(CollectorTest, OneThatDeliversIsLeftAlone) {
  collector_.Run(PlanOf({Script("steady", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  EXPECT_EQ(collector_.starts(), 1);
  EXPECT_NE(collector_.child(), 0);
  EXPECT_TRUE(causes_.empty());
}

// It had logged that, and the daemon served its last snapshot for ever.
TEST_F(CollectorTest, AnExceptionOfTheSinkLeavesTheIoLoop) {
  class Exhausted : public ScriptedSink {
    CollectorProgress Feed(std::string_view) override { throw std::bad_alloc(); }
  } sink;
  Collector collector(
      io_, workers_, sink, [](const std::string&) {}, [](const std::string&) {});
  collector.Run(PlanOf({Script("steady", kSteady)}));
  EXPECT_THROW(RunUntil(io_, [] { return false; }), std::bad_alloc);
  collector.Stop();
}

constexpr const char* kOnRequest = "echo batch; while read line; do echo batch; done";

TEST_F(CollectorTest, IsAskedForASnapshotSoon) {
  collector_.PollSoon();
  collector_.Run(PlanOf({Script("asked", kOnRequest)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  collector_.PollSoon();
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
}

TEST_F(CollectorTest, ARecordingHasItsOwnPace) {
  CollectorCandidate recording =
      Script("replay", "echo batch; read line || echo batch; sleep 1000");
  recording.may_finish = true;
  collector_.Run(PlanOf({recording}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; })) << "nothing is to be read";
  collector_.PollSoon();
}

TEST_F(CollectorTest, OneThatIsKilledIsStartedAgain) {
  collector_.Run(PlanOf({Script("steady", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  kill(collector_.child(), SIGKILL);
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
  EXPECT_EQ(causes_, (std::vector<std::string>{"steady was ended by signal 9 (Killed)"}));
}

TEST_F(CollectorTest, OneWhoseChildrenHoldItsPipeIsStartedAgainToo) {
  collector_.Run(PlanOf({Script("parent", "echo batch; sleep 1000 & wait")}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  kill(collector_.child(), SIGKILL);
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
}

TEST_F(CollectorTest, OneThatIsStoppedIsKilledAndStartedAgain) {
  CollectorPlan plan = PlanOf({Script("steady", kSteady)});
  plan.silence = milliseconds(300);
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  kill(collector_.child(), SIGSTOP);
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
  EXPECT_EQ(causes_.front(), "steady was ended: it gave no sign of life for 0.3 s");
}

TEST_F(CollectorTest, OneThatNeverSaysAnythingIsKilled) {
  CollectorPlan plan = PlanOf({Script("mute", "exec sleep 1000")});
  plan.silence = milliseconds(50);
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.starts() == 3; }));
  EXPECT_EQ(LastCause(), "mute was ended: it gave no sign of life for 0.05 s");
}

TEST_F(CollectorTest, RubbishAloneIsNoSignOfLife) {
  CollectorPlan plan = PlanOf({Script("rubbish", "while :; do echo '}{'; sleep 0.01; done")});
  plan.silence = milliseconds(100);
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.starts() == 2; }));
  EXPECT_TRUE(HasCause("rubbish: it printed an invalid record: }{"));
  EXPECT_TRUE(HasCause("rubbish was ended: it gave no sign of life for 0.1 s"));
}

TEST_F(CollectorTest, RubbishBetweenBatchesIsACauseUntilTheNextBatch) {
  collector_.Run(PlanOf({Script("mixed", "echo batch; echo '}{'; exec sleep 1000")}));
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  EXPECT_EQ(LastCause(), "mixed: it printed an invalid record: }{");
  EXPECT_EQ(collector_.starts(), 1);
}

TEST_F(CollectorTest, AnEndlessLineDoesNotFillTheMemory) {
  CollectorPlan plan = PlanOf({Script("endless", "exec cat /dev/zero")});
  plan.silence = milliseconds(200);
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.starts() == 2; }));
  EXPECT_EQ(causes_.front(), "endless was ended: it gave no sign of life for 0.2 s");
}

TEST_F(CollectorTest, TheLastWordsOfOneThatEndsAreTheCause) {
  collector_.Run(PlanOf({Script("dying", "echo first >&2; echo no slurm.conf >&2; exit 1")}));
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  EXPECT_EQ(causes_.front(), "dying exited with status 1: no slurm.conf");
}

TEST_F(CollectorTest, TheLastWordsAreOneShortLine) {
  collector_.Run(PlanOf({Script(
      "escaping",
      "printf '\\033[2J\\007' >&2; head -c 3000 /dev/zero | tr '\\0' x >&2; echo >&2; exit 3")}));
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  EXPECT_EQ(LastCause().substr(0, 43), "escaping exited with status 3: ?[2J?xxxxxxx");
  EXPECT_LT(LastCause().size(), 600u);
}

TEST(CollectorCall, KeepsTheServiceManagersVariablesFromTheChild) {
  const auto taken = CollectorCall({{"/bin/true"}, {}}).command.environment;
  EXPECT_EQ(taken, (std::vector<std::string>{"NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC"}));
}

TEST_F(CollectorTest, AReportedErrorIsTheCauseAndThatIsLife) {
  CollectorPlan plan =
      PlanOf({Script("alone", "echo error slurmctld does not answer; exec sleep 1000")});
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  EXPECT_EQ(LastCause(), "slurmctld does not answer");
  EXPECT_EQ(collector_.starts(), 1);
}

TEST_F(CollectorTest, AProgramThatIsNotThereIsACause) {
  collector_.Run(PlanOf({{"gone", {{"/nowhere/collector"}, {}}, false}}));
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  EXPECT_EQ(
      causes_.front(),
      "gone exited with status 127: cannot run /nowhere/collector: No such file or directory");
}

TEST_F(CollectorTest, OfSeveralTheFirstThatWorksIsKept) {
  collector_.Run(PlanOf({Script("api", "echo not built in >&2; exit 1"), Script("cli", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  EXPECT_EQ(collector_.starts(), 2);
  kill(collector_.child(), SIGKILL);
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
  EXPECT_EQ(collector_.starts(), 3);  // cli again, not api
}

TEST_F(CollectorTest, WhyTheFirstWasNotTakenIsToldForAsLongAsTheNextDelivers) {
  collector_.Run(PlanOf({Script("api", "echo not built in >&2; exit 1"), Script("cli", kSteady),
                         Script("rest", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return passed_over_.size() == 1; }));
  kill(collector_.child(), SIGKILL);
  ASSERT_TRUE(RunUntilTrue([&] { return passed_over_.size() == 2; }));
  const std::string why = "api exited with status 1: not built in";
  EXPECT_EQ(passed_over_, (std::vector<std::string>{why, why}));
}

TEST_F(CollectorTest, NothingWasPassedOverWhereTheFirstDelivers) {
  collector_.Run(PlanOf({Script("api", kSteady), Script("cli", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return !passed_over_.empty(); }));
  EXPECT_EQ(passed_over_, std::vector<std::string>{""});
}

TEST_F(CollectorTest, OneThatOnlyReportsErrorsMakesPlaceForTheNext) {
  collector_.Run(PlanOf(
      {Script("api", "echo error wrong protocol; exec sleep 1000"), Script("cli", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  EXPECT_TRUE(HasCause("api: wrong protocol"));
}

TEST_F(CollectorTest, WhenNoneWorksTheCauseNamesAll) {
  collector_.Run(PlanOf({Script("api", "echo not built in >&2; exit 1"),
                         Script("cli", "echo no sinfo >&2; exit 2")}));
  const std::string both =
      "api exited with status 1: not built in; cli exited with status 2: no sinfo";
  ASSERT_TRUE(RunUntilTrue([&] { return HasCause(both); }));
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.starts() >= 6; }));
  EXPECT_EQ(LastCause(), both);
}

TEST_F(CollectorTest, PausesGrowAndADeliveryResetsThem) {
  CollectorPlan plan = PlanOf({Script("weak", "exit 1")});
  plan.first_pause = milliseconds(1);
  plan.longest_pause = milliseconds(4);
  collector_.Run(plan);
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.starts() >= 5; }));
  collector_.Run(PlanOf({Script("steady", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
}

TEST_F(CollectorTest, ANewPlanReplacesTheRunningChild) {
  collector_.Run(PlanOf({Script("old", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  const pid_t old = collector_.child();
  collector_.Run(PlanOf({Script("new", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
  EXPECT_NE(collector_.child(), old);
  EXPECT_EQ(kill(old, 0), -1);
  EXPECT_TRUE(causes_.empty());
}

TEST_F(CollectorTest, ANewPlanDoesNotWaitForTheOldOnesPause) {
  CollectorPlan patient = PlanOf({Script("weak", "exit 1")});
  patient.first_pause = std::chrono::hours(1);
  collector_.Run(patient);
  ASSERT_TRUE(RunUntilTrue([&] { return !causes_.empty(); }));
  collector_.Run(PlanOf({Script("steady", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
}

TEST_F(CollectorTest, ARecordingThatEndsIsNoFailure) {
  CollectorCandidate replay = Script("replay", "echo batch; exit 0");
  replay.may_finish = true;
  collector_.Run(PlanOf({replay}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1 && collector_.child() == 0; }));
  EXPECT_EQ(collector_.starts(), 1);
  EXPECT_TRUE(causes_.empty());
}

TEST_F(CollectorTest, StopEndsTheChildAndStartsNoOther) {
  collector_.Run(PlanOf({Script("steady", kSteady)}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 1; }));
  const pid_t pid = collector_.child();
  collector_.Stop();
  ASSERT_TRUE(RunUntilTrue([&] { return collector_.child() == 0; }));
  EXPECT_EQ(kill(pid, 0), -1);
  EXPECT_EQ(collector_.starts(), 1);
}

TEST_F(CollectorTest, AChildThatClosesItsOutputAndStaysIsKilled) {
  collector_.Run(PlanOf({Script("closed", "echo batch; exec >&-; exec sleep 1000")}));
  ASSERT_TRUE(RunUntilTrue([&] { return sink_.batches() == 2; }));
  EXPECT_EQ(causes_.front(), "closed was ended: it closed its output");
}

}  // namespace
}  // namespace gpuadvise::daemon
