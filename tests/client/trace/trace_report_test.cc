#include "client/trace/trace_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json Peak(int64_t total) {
  return {{"total", total}, {"weights", 1}, {"gradients", 2}, {"optimizer", 3}, {"activations", 4}};
}

json Traced() {
  return {{"format", 1},         {"status", "traced"},     {"torch", "2.4.1"},
          {"batch", 8},          {"parameters", 100},      {"trained_parameters", 50},
          {"precision", "bf16"}, {"backward", Peak(1000)}, {"step", Peak(500)},
          {"notes", {"a", "b"}}};
}

std::string ErrorOf(const json& report, const std::string& said_last = "") {
  const auto read = ReadTraceReport(report.dump(), {"train.py", said_last});
  return read ? "no error" : read.error().message;
}

json Failed(const std::string& kind, const std::string& sentence, const std::string& place) {
  return {{"format", 1},
          {"status", "failed"},
          {"kind", kind},
          {"sentence", sentence},
          {"place", place}};
}

TEST(TraceReport, IsReadAsItWasWritten) {
  const auto report = ReadTraceReport(Traced().dump(), {"train.py"});
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->torch, "2.4.1");
  EXPECT_EQ(report->micro_batch, 8);
  EXPECT_EQ(report->parameters, 100);
  EXPECT_EQ(report->trained, 50);
  EXPECT_EQ(report->precision, "bf16");
  EXPECT_EQ(report->backward.total, 1000);
  EXPECT_EQ(report->step.optimizer, 3);
  EXPECT_EQ(report->notes.size(), 2u);
}

TEST(TraceReport, OfAFailureIsASentenceWithLineAndRemedy) {
  EXPECT_EQ(
      ErrorOf(Failed("raised", "ValueError: no data", "train.py:12")),
      "--trace: train.py:12: ValueError: no data (a trace runs the script as it is; does it run "
      "by itself?)");
  EXPECT_EQ(
      ErrorOf(Failed("exit", "ended by itself (exit status 2)", "train.py:3"), "no --data"),
      "--trace: train.py:3 ended by itself (exit status 2): no --data (a trace runs the script "
      "as it is; does it run by itself?)");
  EXPECT_EQ(ErrorOf(Failed("too_late", "made 0 of 2 optimizer steps within 3 s", "train.py:3")),
            "--trace: train.py:3 made 0 of 2 optimizer steps within 3 s; allow more time with "
            "--trace-minutes, or prepare less before the first step");
  EXPECT_THAT(ErrorOf(Failed("no_torch", "/usr/bin/python3 has no PyTorch", "")),
              HasSubstr("--trace: /usr/bin/python3 has no PyTorch; activate the training's"));
  EXPECT_EQ(ErrorOf(Failed("untraceable", "train.py:4 needs values", "train.py:4")),
            "--trace: train.py:4 needs values");
}

TEST(TraceReport, OfABugOfTheTraceIsInternal) {
  const auto read = ReadTraceReport(Failed("tool", "KeyError", "").dump(), {"train.py"});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kInternal);
}

TEST(TraceReport, ThatIsNoneIsRefused) {
  for (const char* text :
       {"", "{", "[]", "null", "{}", "{\"format\": 2, \"status\": \"traced\"}"}) {
    EXPECT_FALSE(ReadTraceReport(text, {"train.py"})) << text;
  }
  EXPECT_FALSE(ReadTraceReport(std::string(100'000, '['), {"train.py"}));
}

TEST(TraceReport, WithAFigureOutOfBoundsIsRefused) {
  for (const char* key : {"batch", "parameters", "trained_parameters"}) {
    for (const json& value : {json(-1), json(1e300), json("8"), json(nullptr)}) {
      json report = Traced();
      report[key] = value;
      if (value.is_null()) continue;
      EXPECT_NE(ErrorOf(report), "no error") << key << " " << value;
    }
  }
  for (const char* key : {"total", "weights", "gradients", "optimizer", "activations"}) {
    json report = Traced();
    report["backward"][key] = -5;
    EXPECT_NE(ErrorOf(report), "no error") << key;
  }
  json report = Traced();
  report.erase("backward");
  EXPECT_EQ(ErrorOf(report), "--trace: the report of train.py lacks its figures");
  report = Traced();
  report["notes"] = json::array();
  for (int i = 0; i < 1000; ++i) report["notes"].push_back("note");
  EXPECT_NE(ErrorOf(report), "no error");
}

TEST(TraceReport, CutAnywhereIsRefused) {
  const std::string text = Traced().dump();
  for (size_t length = 0; length < text.size(); ++length) {
    EXPECT_FALSE(ReadTraceReport(text.substr(0, length), {"train.py"})) << length;
  }
}

}  // namespace
}  // namespace gpuadvise::client
