#include "common/slurm/snapshot_records.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tests/fakes/snapshot_gen.h"

namespace gpuadvise {
namespace {

using Lines = std::vector<std::string>;

Lines BatchOf(const Snapshot& snapshot, const TableSet& tables = TableSet::All()) {
  Lines lines;
  WriteBatch(snapshot, tables, [&](std::string_view line) { lines.emplace_back(line); });
  return lines;
}

// The snapshot that the last of `lines` completes; nullptr for none. Earlier lines must not fail.
std::shared_ptr<const Snapshot> Feed(SnapshotAssembler& assembler, const Lines& lines) {
  std::shared_ptr<const Snapshot> last;
  for (const std::string& line : lines) {
    const auto fed = assembler.Feed(line);
    EXPECT_TRUE(fed.has_value()) << line.substr(0, 200) << ": " << (fed ? "" : fed.error().message);
    last = fed ? fed->value_or(nullptr) : nullptr;
  }
  return last;
}

std::string ErrorOf(SnapshotAssembler& assembler, std::string_view line) {
  const auto fed = assembler.Feed(line);
  return fed ? "" : fed.error().message;
}

Snapshot SmallSnapshot() {
  Snapshot snapshot;
  snapshot.cluster = "seed";
  snapshot.source = "sim";
  snapshot.taken_at = 100;
  snapshot.requests = 5;
  snapshot.nodes.resize(2);
  snapshot.nodes[0].name = "n1";
  snapshot.nodes[1].name = "n2";
  snapshot.partitions.resize(1);
  snapshot.partitions[0].name = "gpu";
  snapshot.partitions[0].nodes = {"n1", "n2"};
  return snapshot;
}

TEST(Records, LookAsDocumented) {
  EXPECT_EQ(BatchOf(SmallSnapshot(), {Table::kNodes, Table::kPartitions}),
            (Lines{R"({"cluster":"seed","record":"begin","requests":5,"source":"sim",)"
                   R"("tables":["nodes","partitions"],"taken_at":100,"version":1})",
                   R"({"name":"n1","record":"node"})", R"({"name":"n2","record":"node"})",
                   R"({"name":"gpu","nodes":"n[1-2]","record":"partition"})",
                   R"({"counts":{"nodes":2,"partitions":1},"record":"end"})"}));
}

TEST(Records, WholeBatchMakesTheSnapshot) {
  SnapshotAssembler assembler;
  const auto snapshot = Feed(assembler, BatchOf(SmallSnapshot()));
  ASSERT_NE(snapshot, nullptr);
  EXPECT_EQ(*snapshot, SmallSnapshot());
}

TEST(Records, TablesThatAreNotSentStayAsTheyWere) {
  SnapshotAssembler assembler;
  Snapshot snapshot = SmallSnapshot();
  Feed(assembler, BatchOf(snapshot));
  snapshot.taken_at = 130;
  snapshot.nodes[1].state.Add(NodeFlag::kDrain);
  const auto second = Feed(assembler, BatchOf(snapshot, {Table::kNodes}));
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(*second, snapshot);
}

TEST(Records, EarlierSnapshotIsNotTouchedByALaterBatch) {
  SnapshotAssembler assembler;
  Snapshot snapshot = SmallSnapshot();
  const auto first = Feed(assembler, BatchOf(snapshot));
  snapshot.nodes.pop_back();
  Feed(assembler, BatchOf(snapshot, {Table::kNodes}));
  EXPECT_EQ(*first, SmallSnapshot());
}

TEST(Records, FirstBatchMustHoldEveryTable) {
  SnapshotAssembler assembler;
  EXPECT_EQ(ErrorOf(assembler, BatchOf(SmallSnapshot(), {Table::kNodes})[0]),
            "The batch builds on tables that were lost; restart the collector.");
}

TEST(Records, WrongCountDropsTheBatch) {
  SnapshotAssembler assembler;
  Lines lines = BatchOf(SmallSnapshot());
  lines.erase(lines.begin() + 1);
  const std::string end = lines.back();
  lines.pop_back();
  Feed(assembler, lines);
  EXPECT_EQ(ErrorOf(assembler, end), "The batch has 1 nodes, but its end says 2; it is dropped.");
}

TEST(Records, BadLineIsToldOnceAndTheNextBeginStartsClean) {
  SnapshotAssembler assembler;
  Lines lines = BatchOf(SmallSnapshot());
  ASSERT_TRUE(assembler.Feed(lines[0]).has_value());
  EXPECT_EQ(ErrorOf(assembler, "slurm_load_jobs: error"),
            "The collector printed a line that is not a JSON record; run it with --once to see.");
  EXPECT_EQ(Feed(assembler, {lines.begin() + 1, lines.end()}), nullptr);
  EXPECT_NE(Feed(assembler, lines), nullptr);
}

TEST(Records, BatchAfterALostOneMustRepeatItsTables) {
  SnapshotAssembler assembler;
  const Lines all = BatchOf(SmallSnapshot());
  const Lines nodes = BatchOf(SmallSnapshot(), {Table::kNodes});
  const Lines jobs = BatchOf(SmallSnapshot(), {Table::kJobs});
  Feed(assembler, all);
  ASSERT_TRUE(assembler.Feed(nodes[0]).has_value());
  EXPECT_NE(ErrorOf(assembler, "rubbish"), "");
  EXPECT_NE(ErrorOf(assembler, jobs[0]), "");
  EXPECT_NE(Feed(assembler, all), nullptr);
}

TEST(Records, SameTablesAgainMakeUpForALostBatch) {
  SnapshotAssembler assembler;
  const Lines nodes = BatchOf(SmallSnapshot(), {Table::kNodes});
  Feed(assembler, BatchOf(SmallSnapshot()));
  ASSERT_TRUE(assembler.Feed(nodes[0]).has_value());
  EXPECT_NE(ErrorOf(assembler, "rubbish"), "");
  EXPECT_NE(Feed(assembler, nodes), nullptr);
}

TEST(Records, ErrorRecordIsUnavailableWithItsSentence) {
  SnapshotAssembler assembler;
  const auto fed = assembler.Feed(ErrorRecord("slurmctld does not answer; is it running?"));
  ASSERT_FALSE(fed.has_value());
  EXPECT_EQ(fed.error().code, ErrorCode::kUnavailable);
  EXPECT_EQ(fed.error().message, "slurmctld does not answer; is it running?");
}

TEST(Records, ErrorRecordBetweenBatchesLosesNothing) {
  SnapshotAssembler assembler;
  Feed(assembler, BatchOf(SmallSnapshot()));
  EXPECT_NE(ErrorOf(assembler, ErrorRecord("busy")), "");
  EXPECT_NE(ErrorOf(assembler, ErrorRecord("still busy")), "");
  EXPECT_NE(Feed(assembler, BatchOf(SmallSnapshot(), {Table::kJobs})), nullptr);
}

TEST(Records, BeginInsideABatchIsToldAndStarts) {
  SnapshotAssembler assembler;
  const Lines lines = BatchOf(SmallSnapshot());
  ASSERT_TRUE(assembler.Feed(lines[0]).has_value());
  EXPECT_EQ(ErrorOf(assembler, lines[0]), "A batch of the collector had no end; it is dropped.");
  EXPECT_NE(Feed(assembler, {lines.begin() + 1, lines.end()}), nullptr);
}

TEST(Records, UnknownKindsOfALaterProgramAreSkipped) {
  SnapshotAssembler assembler;
  Lines lines = BatchOf(SmallSnapshot());
  lines.insert(lines.begin() + 1, R"({"record":"licence","name":"x"})");
  EXPECT_NE(Feed(assembler, lines), nullptr);
}

TEST(Records, NewerVersionIsRefused) {
  SnapshotAssembler assembler;
  EXPECT_NE(ErrorOf(assembler, R"({"record":"begin","version":2,"taken_at":1,"tables":[]})")
                .find("version 2"),
            std::string::npos);
}

TEST(Records, OtherClusterMustSendEverything) {
  SnapshotAssembler assembler;
  Snapshot other = SmallSnapshot();
  Feed(assembler, BatchOf(other));
  other.cluster = "elsewhere";
  EXPECT_NE(ErrorOf(assembler, BatchOf(other, {Table::kNodes})[0]), "");
  EXPECT_NE(Feed(assembler, BatchOf(other)), nullptr);
}

// `batch` with one more line of `table`, which its end counts.
Lines WithOneMore(Lines batch, const std::string& line, const std::string& table) {
  nlohmann::json end = nlohmann::json::parse(batch.back());
  end["counts"][table] = end["counts"][table].get<int>() + 1;
  batch.back() = end.dump();
  batch.insert(batch.end() - 1, line);
  return batch;
}

TEST(Records, ABadRowCostsItselfAndNamesItsPlace) {
  const Lines batch = BatchOf(SmallSnapshot());
  SnapshotAssembler assembler;
  const auto made = Feed(
      assembler, WithOneMore(batch, R"({"record":"node","name":"n7","cpus":"many"})", "nodes"));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(*made, SmallSnapshot());
  EXPECT_EQ(assembler.left_out().records, 1);
  EXPECT_EQ(assembler.left_out().first,
            "A node record is wrong: /cpus must be a whole number, not string.");
  Feed(assembler, batch);
  EXPECT_EQ(assembler.left_out(), LeftOut());
}

TEST(Records, ASecondRowOfANameCostsItself) {
  const Lines batch = BatchOf(SmallSnapshot());
  const std::string node = *std::find_if(batch.begin(), batch.end(), [](const std::string& line) {
    return line.find(R"("record":"node")") != std::string::npos;
  });
  SnapshotAssembler assembler;
  const auto made = Feed(assembler, WithOneMore(batch, node, "nodes"));
  ASSERT_NE(made, nullptr);
  EXPECT_EQ(*made, SmallSnapshot());
  EXPECT_NE(assembler.left_out().InWords().find("a record is left out: node "), std::string::npos);
}

TEST(Records, NodesOfWhichNoneCanBeReadAreNoCluster) {
  SnapshotAssembler assembler;
  Lines batch = BatchOf(SmallSnapshot());
  for (std::string& line : batch) {
    if (line.find(R"("record":"node")") != std::string::npos) line = R"({"record":"node"})";
  }
  const std::string end = batch.back();
  batch.pop_back();
  Feed(assembler, batch);
  EXPECT_NE(ErrorOf(assembler, end).find("A node record is wrong"), std::string::npos);
}

TEST(Records, AnErrorIsOneShortLine) {
  SnapshotAssembler assembler;
  const std::string record =
      nlohmann::json({{"record", "error"}, {"message", "\x1b[2J\n" + std::string(50'000, 'x')}})
          .dump();
  const std::string error = ErrorOf(assembler, record);
  EXPECT_LT(error.size(), kMaxMessageBytes + 8);
  EXPECT_EQ(error.substr(0, 6), "?[2J?x");
}

TEST(Records, HugeRecordTravelsInPieces) {
  Snapshot snapshot = SmallSnapshot();
  for (int i = 0; i < 20'000; ++i) {  // a blank is in no host list: names are written one by one
    snapshot.partitions[0].nodes.push_back("전산 " + std::to_string(i) + "\"x\\");
  }
  const Lines lines = BatchOf(snapshot);
  for (const std::string& line : lines) EXPECT_LT(line.size(), kMaxRecordBytes);
  EXPECT_GT(lines.size(), 10u);
  SnapshotAssembler assembler;
  const auto again = Feed(assembler, lines);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(*again, snapshot);
}

TEST(Records, LineOver64KiBIsRefused) {
  SnapshotAssembler assembler;
  EXPECT_EQ(ErrorOf(assembler, std::string(kMaxRecordBytes + 1, ' ')),
            "The collector printed a line of more than 64 KiB.");
}

TEST(Records, DeepNestsAreAnsweredNotDiedOf) {
  const std::string deep = std::string(30'000, '[') + std::string(30'000, ']');
  for (const char* head : {R"({"record":"begin","version":1,"taken_at":)",
                           R"({"record":"end","counts":)", R"({"record":"piece","text":)"}) {
    SnapshotAssembler assembler;
    ASSERT_TRUE(assembler.Feed(BatchOf(SmallSnapshot())[0]));
    EXPECT_NE(ErrorOf(assembler, head + deep + "}"), "");
  }
}

TEST(Records, BatchCutAtEveryByteNeverGivesASnapshot) {
  std::string text;
  for (const std::string& line : BatchOf(SmallSnapshot())) text += line + '\n';
  for (size_t length = 0; length + 1 < text.size(); ++length) {
    SnapshotAssembler assembler;
    std::string_view rest = std::string_view(text).substr(0, length);
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const auto fed = assembler.Feed(rest.substr(0, end));
      EXPECT_FALSE(fed && fed->has_value()) << length;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
}

RC_GTEST_PROP(RecordsProperty, AssemblingUndoesWriting, ()) {
  const Snapshot snapshot = *ArbitrarySnapshot();
  SnapshotAssembler assembler;
  const auto again = Feed(assembler, BatchOf(snapshot));
  RC_ASSERT(again != nullptr);
  RC_ASSERT(*again == snapshot);
}

RC_GTEST_PROP(RecordsProperty, ShuffledLinesNeverCrash, ()) {
  Lines lines = BatchOf(*ArbitrarySnapshot());
  for (int i = 0; i < 4; ++i) {
    std::swap(lines[*rc::gen::inRange<size_t>(0, lines.size())],
              lines[*rc::gen::inRange<size_t>(0, lines.size())]);
  }
  SnapshotAssembler assembler;
  for (const std::string& line : lines) {
    const auto fed = assembler.Feed(line);
    if (!fed) RC_ASSERT(!fed.error().message.empty());
  }
}

}  // namespace
}  // namespace gpuadvise
