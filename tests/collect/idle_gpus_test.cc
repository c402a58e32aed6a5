#include "daemon/collect/idle_gpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <utility>

namespace gpuadvise::collect {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::HasSubstr;

std::string AnswerOf(const std::string& series) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + series + "]}}";
}

std::string SeriesOf(const std::string& labels, const std::string& value) {
  return R"({"metric":{)" + labels + R"(},"value":[1,")" + value + R"("]})";
}

TEST(IdleGpusIn, IsASeriesANode) {
  const auto idle = IdleGpusIn(AnswerOf(SeriesOf(R"("Hostname":"n1")", "3") + "," +
                                        SeriesOf(R"("Hostname":"n2")", "0") + "," +
                                        SeriesOf(R"("Hostname":"n3")", "NaN")));
  ASSERT_TRUE(idle);
  EXPECT_EQ(*idle, (std::map<std::string, int64_t>{{"n1", 3}}));
}

TEST(IdleGpusIn, SaysWhatIsWrong) {
  const std::string two = SeriesOf(R"("Hostname":"n1","gpu":"0")", "1");
  EXPECT_THAT(IdleGpusIn(AnswerOf(two)).error().message, HasSubstr("series with 2 labels"));
  EXPECT_EQ(IdleGpusIn(R"({"status":"error","error":"parse error"})").error().message,
            "parse error");
  EXPECT_FALSE(IdleGpusIn("<html>"));
}

// Two nodes; the same answer each time.
class TwoNodes : public Source {
 public:
  Result<Poll> Step() override {
    CountRequest();
    Poll poll;
    for (const char* name : {"n1", "n2"}) poll.snapshot.nodes.emplace_back().name = name;
    if (std::exchange(is_first_, false)) poll.changed.Add(Table::kNodes);
    return poll;
  }

 private:
  bool is_first_ = true;
};

class WithIdleGpusTest : public ::testing::Test {
 protected:
  Poll Step() {
    Result<Poll> poll = source_->Step();
    EXPECT_TRUE(poll);
    return poll ? std::move(*poll) : Poll();
  }

  Result<std::string> answer_ = AnswerOf(SeriesOf(R"("host":"n1.example.org:9400")", "2"));
  int asked_ = 0;
  steady_clock::time_point now_{};
  std::unique_ptr<Source> source_ = WithIdleGpus(
      std::make_unique<TwoNodes>(), {"http://prometheus:9090", "a query"},
      [this](const std::string& place, const std::string& target) {
        EXPECT_EQ(place + target, "http://prometheus:9090/api/v1/query?query=a%20query");
        ++asked_;
        return answer_;
      },
      [this] { return now_; });
};

TEST_F(WithIdleGpusTest, FillsInWhatPrometheusCounts) {
  const Poll first = Step();
  EXPECT_EQ(first.snapshot.nodes[0].gpus_idle, 2) << "a name without its domain and port";
  EXPECT_EQ(first.snapshot.nodes[1].gpus_idle, 0);
  EXPECT_TRUE(first.snapshot.config.counts_idle_gpus);
  EXPECT_EQ(source_->TakeRequests(), 1) << "Slurm's alone";
  const Poll second = Step();
  EXPECT_EQ(asked_, 1) << "once a minute";
  EXPECT_EQ(second.snapshot.nodes[0].gpus_idle, 2);
  EXPECT_FALSE(second.changed.Has(Table::kNodes));
  now_ += seconds(61);
  EXPECT_FALSE(Step().changed.Has(Table::kNodes)) << "the same answer";
  answer_ = AnswerOf("");
  now_ += seconds(61);
  const Poll last = Step();
  EXPECT_EQ(last.snapshot.nodes[0].gpus_idle, 0);
  EXPECT_TRUE(last.changed.Has(Table::kNodes));
}

TEST_F(WithIdleGpusTest, AFaultCostsTheNumberAlone) {
  Step();
  now_ += seconds(61);
  answer_ = Fail(ErrorCode::kUnavailable, "nothing listens there");
  const Poll poll = Step();
  EXPECT_EQ(poll.snapshot.nodes.size(), 2u);
  EXPECT_EQ(poll.snapshot.nodes[0].gpus_idle, 0);
  EXPECT_FALSE(poll.snapshot.config.counts_idle_gpus);
  EXPECT_EQ(poll.snapshot.config.idle_gpus_problem,
            "http://prometheus:9090: nothing listens there");
  EXPECT_TRUE(poll.changed.Has(Table::kConfig));
  now_ += seconds(61);
  Step();
  EXPECT_EQ(asked_, 2) << "five minutes after a fault";
}

TEST_F(WithIdleGpusTest, NamesThatAreNoNodesAreSaid) {
  answer_ = AnswerOf(SeriesOf(R"("instance":"10.0.0.5:9400")", "2"));
  const Poll poll = Step();
  EXPECT_FALSE(poll.snapshot.config.counts_idle_gpus);
  EXPECT_EQ(poll.snapshot.config.idle_gpus_problem,
            "idle_gpus_query names '10.0.0.5:9400', which is no node; its label must be NodeName");
}

TEST_F(WithIdleGpusTest, AShortNameOfTwoHostsIsNobodys) {
  answer_ =
      AnswerOf(SeriesOf(R"("Hostname":"n1.a")", "2") + "," + SeriesOf(R"("Hostname":"n1.b")", "3") +
               "," + SeriesOf(R"("Hostname":"n2")", "1"));
  const Poll poll = Step();
  EXPECT_EQ(poll.snapshot.nodes[0].gpus_idle, 0);
  EXPECT_EQ(poll.snapshot.nodes[1].gpus_idle, 1);
}

TEST(WithIdleGpus, IsNothingWithoutAPrometheus) {
  auto slurm = std::make_unique<TwoNodes>();
  const Source* const same = slurm.get();
  EXPECT_EQ(WithIdleGpus(std::move(slurm), {}).get(), same);
}

}  // namespace
}  // namespace gpuadvise::collect
