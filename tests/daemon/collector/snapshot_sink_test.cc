#include "daemon/collector/snapshot_sink.h"

#include <gtest/gtest.h>

#include "common/base/text.h"
#include "tests/daemon/fake_clock.h"
#include "tests/fakes/shipped_catalogues.h"
#include "tests/fakes/snapshot_text.h"

namespace gpuadvise::daemon {
namespace {

class SnapshotSinkTest : public testing::Test {
 protected:
  // What a collector prints for a cluster of these lines.
  static std::string Batch(const std::string& lines, const TableSet& tables = TableSet::All()) {
    std::string text;
    WriteBatch(SnapshotOf(lines), tables,
               [&](std::string_view line) { text.append(line).append("\n"); });
    return text;
  }

  size_t Jobs() const { return cluster_.state()->snapshot->jobs.size(); }

  FakeClock clock_{kSnapshotTime};
  ClusterState cluster_{
      clock_, std::make_shared<const Catalogues>(Catalogues{ShippedGpus(), ShippedModels()}), 120};
  SnapshotSink sink_{cluster_};
};

TEST_F(SnapshotSinkTest, ABatchBecomesTheState) {
  const CollectorProgress progress = sink_.Feed(Batch("node n1 gpu4090:4\npend 1 gpu4090:1\n"));
  EXPECT_TRUE(progress.alive);
  EXPECT_TRUE(progress.delivered);
  EXPECT_FALSE(progress.error);
  EXPECT_EQ(Jobs(), 1u);
}

TEST_F(SnapshotSinkTest, NothingIsTakenInOnceTheDaemonStops) {
  sink_.Stop();
  EXPECT_FALSE(sink_.Feed(Batch("node n1 gpu4090:4\npend 1 gpu4090:1\n")).delivered);
  EXPECT_EQ(cluster_.state(), nullptr);
}

TEST_F(SnapshotSinkTest, ABatchMayArriveInPieces) {
  const std::string batch = Batch("node n1 gpu4090:4\npend 1 gpu4090:1\n");
  for (size_t i = 0; i + 1 < batch.size(); ++i)
    EXPECT_FALSE(sink_.Feed(batch.substr(i, 1)).delivered);
  EXPECT_TRUE(sink_.Feed("\n").delivered);
}

TEST_F(SnapshotSinkTest, TablesThatAreNotSentStayAsTheyWere) {
  const std::string both = "node n1 gpu4090:4\npend 1 gpu4090:1\n";
  sink_.Feed(Batch(both));
  EXPECT_TRUE(sink_.Feed(Batch(both, {})).delivered);
  EXPECT_EQ(Jobs(), 1u);
}

TEST_F(SnapshotSinkTest, AReportedErrorIsLifeButNoSnapshot) {
  const CollectorProgress progress = sink_.Feed(ErrorRecord("slurmctld does not answer") + "\n");
  EXPECT_TRUE(progress.alive);
  EXPECT_FALSE(progress.delivered);
  EXPECT_EQ(progress.error, "slurmctld does not answer");
}

TEST_F(SnapshotSinkTest, ABatchAfterAnErrorSettlesIt) {
  const CollectorProgress progress =
      sink_.Feed(ErrorRecord("slurmctld does not answer") + "\n" + Batch("node n1 gpu4090:4\n"));
  EXPECT_TRUE(progress.delivered);
  EXPECT_FALSE(progress.error);
}

TEST_F(SnapshotSinkTest, ARecordThatIsThereTwiceOrWrongCostsItself) {
  std::string batch = Batch("node n1 gpu4090:4\npend 1 gpu4090:1\npend 2 gpu4090:1\n");
  batch = ReplaceAll(batch, R"("id":2)", R"("id":1)");
  const CollectorProgress progress = sink_.Feed(batch);
  EXPECT_TRUE(progress.delivered);
  EXPECT_FALSE(progress.rubbish);
  EXPECT_EQ(Jobs(), 1u);
}

TEST_F(SnapshotSinkTest, RubbishIsToldOnceABatchAndIsNoLife) {
  const CollectorProgress first = sink_.Feed("what\nis\nthis\n");
  EXPECT_FALSE(first.alive);
  ASSERT_TRUE(first.rubbish);
  EXPECT_EQ(first.rubbish->rfind("it printed an invalid record: ", 0), 0u) << *first.rubbish;
  EXPECT_FALSE(sink_.Feed("more\n").rubbish);
  EXPECT_TRUE(sink_.Feed(Batch("node n1 gpu4090:4\n")).delivered);
  EXPECT_TRUE(sink_.Feed("again\n").rubbish);
}

TEST_F(SnapshotSinkTest, ALineThatIsTooLongIsDroppedAndTold) {
  const CollectorProgress progress = sink_.Feed(std::string(kMaxRecordBytes + 1, 'x') + "\n");
  EXPECT_EQ(progress.rubbish, "it printed a line of more than 64 KiB");
  EXPECT_TRUE(sink_.Feed(Batch("node n1 gpu4090:4\n")).delivered);
}

TEST_F(SnapshotSinkTest, ABatchCutOffByARestartIsForgotten) {
  const std::string batch = Batch("node n1 gpu4090:4\npend 1 gpu4090:1\n");
  sink_.Feed(batch.substr(0, batch.size() / 2));
  sink_.Begin();
  const CollectorProgress progress = sink_.Feed(batch);
  EXPECT_TRUE(progress.delivered);
  EXPECT_FALSE(progress.rubbish);
}

TEST_F(SnapshotSinkTest, APartialBatchCannotBuildOnWhatAnEarlierCollectorSaid) {
  const std::string lines = "node n1 gpu4090:4\npend 1 gpu4090:1\n";
  sink_.Feed(Batch(lines));
  sink_.Begin();
  EXPECT_FALSE(sink_.Feed(Batch(lines, {Table::kJobs})).delivered);
}

}  // namespace
}  // namespace gpuadvise::daemon
