#include "client/run/outcome_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/client/temporary_folder.h"

namespace gpuadvise {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Outcome WholeOutcome() {
  GpuUse use;
  use.peak_memory_bytes = 21474836480;
  use.memory_total_bytes = 51539607552;
  use.utilisation_sum = 0.93;
  use.utilisation_samples = 1;
  use.watts_sum = 280;
  use.watts_samples = 1;
  Attempt attempt;
  attempt.micro_batch = 4;
  attempt.accumulation = 8;
  attempt.began = 1795281829;
  attempt.seconds = 3600.5;
  attempt.exit_code = 1;
  attempt.out_of_memory = true;
  attempt.steps = 10;
  attempt.total_steps = 1000;
  attempt.seconds_per_step = 3.5;
  attempt.loss = 0.41;
  attempt.gpus = {use, use};
  return {"4711", "a-1-2", "gpu01", {"NVIDIA L40S", "NVIDIA L40S"}, {attempt, attempt}};
}

std::string Text(const Outcome& outcome) { return OutcomeJson(outcome).dump(); }

/// The sentence about a whole outcome of which one member is `value` instead.
std::string Refused(const std::string& pointer, const json& value) {
  json document = OutcomeJson(WholeOutcome());
  document[json::json_pointer(pointer)] = value;
  const auto found = ParseOutcome(document.dump());
  return found ? "" : found.error().message;
}

TEST(OutcomeReader, ReadsWhatRunWrites) {
  const auto found = ParseOutcome(Text(WholeOutcome()));
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(OutcomeJson(found->outcome), OutcomeJson(WholeOutcome()));
  EXPECT_FALSE(found->running);
}

TEST(OutcomeReader, LeavesUnknownMembersAndSaysThatItRuns) {
  json document = OutcomeJson(WholeOutcome());
  document["running"] = true;
  document["of_a_later_release"] = {1, 2};
  const auto found = ParseOutcome(document.dump());
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->running);
  EXPECT_EQ(found->document, document);
}

TEST(OutcomeReader, RefusesWhatNoTrainingHas) {
  EXPECT_THAT(Refused("/version", 2), HasSubstr("/version"));
  EXPECT_THAT(Refused("/job_id", 4711), HasSubstr("text of digits"));
  EXPECT_THAT(Refused("/job_id", "4711; rm -rf /"), HasSubstr("digits"));
  EXPECT_THAT(Refused("/job_id", "1234567890123"), HasSubstr("digits"));
  EXPECT_THAT(Refused("/host", std::string(257, 'h')), HasSubstr("longer than 256"));
  EXPECT_THAT(Refused("/gpu_names/0", std::string(257, 'h')), HasSubstr("/gpu_names"));
  EXPECT_THAT(Refused("/attempts", json::array()), HasSubstr("at least one"));
  EXPECT_THAT(Refused("/attempts", json::array({1})), HasSubstr("/attempts/0"));
  EXPECT_THAT(Refused("/attempts/1/seconds", -1), HasSubstr("/attempts/1/seconds"));
  EXPECT_THAT(Refused("/attempts/0/seconds", 1e300), HasSubstr("/attempts/0/seconds"));
  EXPECT_THAT(Refused("/attempts/0/exit_code", 256), HasSubstr("0 to 255"));
  EXPECT_THAT(Refused("/attempts/0/micro_batch", 0), HasSubstr("/attempts/0/micro_batch"));
  EXPECT_THAT(Refused("/attempts/0/out_of_memory", "yes"), HasSubstr("true or false"));
  EXPECT_THAT(Refused("/attempts/0/gpus/1/mean_utilisation", 1.5), HasSubstr("/gpus/1/"));
  EXPECT_THAT(Refused("/attempts/0/gpus/0/peak_memory_bytes", 1e18), HasSubstr("peak_memory"));
  EXPECT_THAT(Refused("/attempts", json(json::array_t(1001, json::object()))), HasSubstr("1000"));
  EXPECT_THAT(Refused("/running", 1), HasSubstr("/running"));
}

TEST(OutcomeReader, AFileCutAtAnyByteIsRefused) {
  const std::string text = Text(WholeOutcome());
  for (size_t size = 0; size < text.size(); ++size) {
    const auto found = ParseOutcome(text.substr(0, size));
    ASSERT_FALSE(found) << size;
    EXPECT_THAT(found.error().message, HasSubstr("cut off"));
  }
}

TEST(OutcomeReader, NestingCostsNothing) {
  const std::string deep(200'000, '[');
  EXPECT_THAT(ParseOutcome(deep).error().message, HasSubstr("nested"));
  EXPECT_THAT(ParseOutcome("{\"x\":" + deep).error().message, HasSubstr("nested"));
}

TEST(OutcomeReader, AnyBytesAreAnOutcomeOrASentence) {
  EXPECT_TRUE(rc::check([](const std::string& bytes, size_t at) {
    std::string text = Text(WholeOutcome());
    text.replace(at % text.size(), std::min<size_t>(bytes.size(), 3), bytes.substr(0, 3));
    const auto found = ParseOutcome(text);
    RC_ASSERT(found.has_value() || !found.error().message.empty());
    if (found) RC_ASSERT(!found->outcome.attempts.empty());
  }));
}

TEST(OutcomeFile, IsReadWhereItIsTheCallers) {
  const TemporaryFolder folder;
  const std::string path = folder.Write(kOutcomeFile, Text(WholeOutcome()));
  EXPECT_TRUE(ReadOutcomeFile(path, ::geteuid()));
  const auto other = ReadOutcomeFile(path, ::geteuid() + 1);
  ASSERT_FALSE(other);
  EXPECT_THAT(other.error().message, HasSubstr("another user"));
}

TEST(OutcomeFile, OnlyRegularFilesAreOpened) {
  const TemporaryFolder folder;
  const std::string real = folder.Write("real.json", Text(WholeOutcome()));
  ASSERT_EQ(::mkfifo(folder.Path("fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink(real.c_str(), folder.Path("link").c_str()), 0);
  ASSERT_EQ(::mkdir(folder.Path("folder").c_str(), 0700), 0);
  const uid_t me = ::geteuid();
  EXPECT_THAT(ReadOutcomeFile(folder.Path("fifo"), me).error().message, HasSubstr("no regular"));
  EXPECT_THAT(ReadOutcomeFile(folder.Path("link"), me).error().message, HasSubstr("symbolic"));
  EXPECT_THAT(ReadOutcomeFile(folder.Path("folder"), me).error().message, HasSubstr("no regular"));
  EXPECT_EQ(ReadOutcomeFile(folder.Path("none"), me).error().code, ErrorCode::kNotFound);
  EXPECT_THAT(ReadOutcomeFile("/dev/null", me).error().message, HasSubstr("no regular"));
}

TEST(OutcomeFile, AHugeOneIsNotRead) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("huge", "");
  ASSERT_EQ(::truncate(path.c_str(), off_t{1} << 40), 0);
  const auto found = ReadOutcomeFile(path, ::geteuid());
  ASSERT_FALSE(found);
  EXPECT_THAT(found.error().message, HasSubstr("at most 262144"));
  std::string most = Text(WholeOutcome());
  most.resize(kMaxOutcomeBytes, ' ');
  EXPECT_TRUE(ReadOutcomeFile(folder.Write("most", most), ::geteuid()));
}

}  // namespace
}  // namespace gpuadvise
