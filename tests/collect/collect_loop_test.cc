#include "daemon/collect/collect_loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <deque>
#include <utility>

namespace gpuadvise::collect {
namespace {

using std::chrono::milliseconds;

// Answers what it was told to, then with the last batch.
class ScriptedSource : public Source {
 public:
  explicit ScriptedSource(std::deque<Result<Poll>> answers) : answers_(std::move(answers)) {}
  Result<Poll> Step() override {
    ++steps;
    CountRequest();
    if (answers_.empty()) return Poll{.snapshot = {}, .changed = {}, .left_out = {}, .last = true};
    Result<Poll> answer = std::move(answers_.front());
    answers_.pop_front();
    return answer;
  }
  int steps = 0;

 private:
  std::deque<Result<Poll>> answers_;
};

Poll Batch(UnixSeconds taken_at) {
  Poll poll;
  poll.snapshot.cluster = "lab";
  poll.snapshot.taken_at = taken_at;
  return poll;
}

class CollectLoop : public testing::Test {
 protected:
  CollectLoop() {
    std::signal(SIGPIPE, SIG_IGN);
    EXPECT_EQ(::pipe2(pipe_.data(), O_NONBLOCK | O_CLOEXEC), 0);
    EXPECT_EQ(::pipe2(input_.data(), O_CLOEXEC), 0);
    options_.source_name = "scripted";
    options_.interval = milliseconds(1);
    options_.output = pipe_[1];
    options_.input = input_[0];
  }
  ~CollectLoop() override {
    CloseReader();
    CloseInput();
    ::close(pipe_[1]);
    ::close(input_[0]);
  }
  void CloseReader() { ::close(std::exchange(pipe_[0], -1)); }
  void CloseInput() { ::close(std::exchange(input_[1], -1)); }

  std::string Printed() {
    std::array<char, 65536> buffer;
    const ssize_t n = ::read(pipe_[0], buffer.data(), buffer.size());
    return n > 0 ? std::string(buffer.data(), static_cast<size_t>(n)) : "";
  }

  std::array<int, 2> pipe_{};
  std::array<int, 2> input_{};
  LoopOptions options_;
};

TEST_F(CollectLoop, PrintsABatchForEveryAnswer) {
  ScriptedSource source({Batch(1), Batch(2)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  const std::string printed = Printed();
  EXPECT_NE(printed.find("\"taken_at\":1,"), std::string::npos);
  EXPECT_NE(printed.find("\"taken_at\":2,"), std::string::npos);
  EXPECT_EQ(printed.back(), '\n');
}

TEST_F(CollectLoop, ABatchTellsTheRequestsSinceTheOneBefore) {
  ScriptedSource source({Batch(1), Fail(ErrorCode::kUnavailable, "no answer"), Batch(2), Batch(3)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  const std::string printed = Printed();
  for (const char* said : {R"("requests":1,"source":"","tables":[],"taken_at":1,)",
                           R"("requests":2,"source":"","tables":[],"taken_at":2,)",
                           R"("requests":1,"source":"","tables":[],"taken_at":3,)"}) {
    EXPECT_NE(printed.find(said), std::string::npos) << printed;
  }
}

TEST_F(CollectLoop, OnceIsOneBatch) {
  options_.once = true;
  ScriptedSource source({Batch(1), Batch(2)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  EXPECT_EQ(source.steps, 1);
}

TEST_F(CollectLoop, OnceWithoutAnAnswerIsASentenceAndStatusOne) {
  options_.once = true;
  ScriptedSource source({Fail(ErrorCode::kUnavailable, "slurmctld is away")});
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunCollectLoop(source, options_), 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "gpuadvise-collect: scripted: slurmctld is away\n");
  EXPECT_EQ(Printed(), "");
}

TEST_F(CollectLoop, AsksAgainAfterAnErrorAndPrintsItsCause) {
  ScriptedSource source({Fail(ErrorCode::kUnavailable, "slurmctld is away"), Batch(5)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  const std::string printed = Printed();
  EXPECT_LT(printed.find("slurmctld is away"), printed.find("\"taken_at\":5,"));
}

TEST_F(CollectLoop, SaysOnceWhatWasLeftOutAndNotForEver) {
  std::deque<Result<Poll>> answers;
  for (int i = 0; i < 100; ++i) {
    Poll poll = Batch(i);
    poll.left_out.Add("job " + std::to_string(i / 2) + " is\x1b[2J there twice");
    answers.emplace_back(std::move(poll));
  }
  ScriptedSource source(std::move(answers));
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_EQ(said.substr(0, said.find('\n')), "a record is left out: job 0 is?[2J there twice");
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 21);
}

TEST(LeftOutTeller, TellsSoManyAnHour) {
  LeftOutTeller teller;
  std::chrono::steady_clock::time_point now{std::chrono::hours(5)};
  const auto tell = [&](int job) {
    LeftOut left_out;
    left_out.Add("job " + std::to_string(job) + " is there twice");
    return teller.Tell(left_out, now);
  };
  EXPECT_EQ(tell(0), "a record is left out: job 0 is there twice");
  EXPECT_EQ(tell(0), "");
  for (int job = 1; job < LeftOutTeller::kMostStories; ++job) EXPECT_NE(tell(job), "");
  EXPECT_EQ(tell(98), "more records are left out; not reported again this hour");
  EXPECT_EQ(tell(99), "");
  now += std::chrono::hours(1);
  EXPECT_EQ(tell(98), "a record is left out: job 98 is there twice");
  EXPECT_EQ(teller.Tell(LeftOut(), now), "");
}

TEST_F(CollectLoop, EndsWhenAskingAgainCannotHelp) {
  ScriptedSource source({BadInput("replay.txt:3: no record"), Batch(5)});
  testing::internal::CaptureStderr();
  EXPECT_EQ(RunCollectLoop(source, options_), 1);
  EXPECT_EQ(source.steps, 1);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("replay.txt:3"), std::string::npos);
}

TEST_F(CollectLoop, EndsWhenNobodyReads) {
  CloseReader();
  ScriptedSource source({Batch(1), Batch(2)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  EXPECT_EQ(source.steps, 1);
}

TEST_F(CollectLoop, EndsWhenItsInputIsClosed) {
  options_.interval = milliseconds(3'600'000);
  CloseInput();
  ScriptedSource source({Batch(1), Batch(2)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  EXPECT_EQ(source.steps, 1);
}

TEST_F(CollectLoop, ALineOnItsInputAsksForTheNextPollSoon) {
  options_.interval = milliseconds(3'600'000);
  options_.soonest = milliseconds(1);
  ASSERT_EQ(::write(input_[1], "\n\n\n", 3), 3);
  ScriptedSource source({Batch(1)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  EXPECT_EQ(source.steps, 2);
}

TEST_F(CollectLoop, AskedAgainAndAgainItPollsOnceInSoLong) {
  options_.interval = milliseconds(3'600'000);
  options_.soonest = milliseconds(3'000'000);
  ASSERT_EQ(::write(input_[1], "\n", 1), 1);
  CloseInput();
  ScriptedSource source({Batch(1), Batch(2)});
  EXPECT_EQ(RunCollectLoop(source, options_), 0);
  EXPECT_EQ(source.steps, 1);
}

TEST(PauseAfter, AQuickAnswerIsTheInterval) {
  EXPECT_EQ(PauseAfter(milliseconds(30'000), 0, milliseconds(100)), milliseconds(30'000));
}

TEST(PauseAfter, ASlowAnswerIsLongerButNoMoreThanTwice) {
  EXPECT_EQ(PauseAfter(milliseconds(30'000), 0, milliseconds(15'000)), milliseconds(45'000));
  EXPECT_EQ(PauseAfter(milliseconds(30'000), 0, milliseconds(90'000)), milliseconds(60'000));
}

TEST(PauseAfter, ErrorsAreAskedAgainSoonAndThenLessOften) {
  const auto pause = [](int failures) {
    return PauseAfter(milliseconds(30'000), failures, milliseconds(0)).count();
  };
  EXPECT_EQ(pause(1), 5'000);
  EXPECT_EQ(pause(2), 10'000);
  EXPECT_EQ(pause(3), 20'000);
  EXPECT_EQ(pause(4), 30'000);
  EXPECT_EQ(pause(1000), 30'000);
}

TEST(PauseAfter, WithAShortIntervalErrorsWaitAtMostEightOfThem) {
  EXPECT_EQ(PauseAfter(milliseconds(300), 1, milliseconds(0)), milliseconds(300));
  EXPECT_EQ(PauseAfter(milliseconds(300), 20, milliseconds(0)), milliseconds(2'400));
}

TEST(LineOutput, SaysWhenTheReaderHasGone) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  LineOutput output(ends[1]);
  const auto line = [](const LineOutput::Sink& sink) { sink("x"); };
  EXPECT_TRUE(output.Write(line));
  ::close(ends[0]);
  EXPECT_FALSE(output.Write(line));
  EXPECT_FALSE(output.Write(line));
  ::close(ends[1]);
}

}  // namespace
}  // namespace gpuadvise::collect
