#include "client/commands/help_topics.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "client/api/exit_code.h"
#include "client/commands/command_table.h"
#include "tests/client/fake_process.h"

namespace gpuadvise::client {
namespace {

TEST(HelpTopics, AreListedWithTheirTitles) {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"help"}), kExitOk);
  for (const HelpTopic& topic : HelpTopics()) {
    EXPECT_NE(process.console.printed.find(topic.title), std::string::npos) << topic.name;
  }
}

TEST(HelpTopics, FitTheTerminal) {
  for (const HelpTopic& topic : HelpTopics()) {
    FakeProcess process;
    process.console.shown.width = 80;
    EXPECT_EQ(process.Gpuadvise({"help", topic.name}), kExitOk);
    EXPECT_TRUE(process.console.printed.starts_with(topic.title));
    size_t longest = 0, at = 0;
    for (size_t end; (end = process.console.printed.find('\n', at)) != std::string::npos;
         at = end + 1) {
      longest = std::max(longest, end - at);
    }
    EXPECT_LE(longest, 82u) << topic.name;  // bytes: some are of more than one
  }
}

TEST(HelpTopics, OfACommandAreItsOptions) {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"help", "queue"}), kExitOk);
  EXPECT_NE(process.console.printed.find("Usage: gpuadvise queue"), std::string::npos);
}

TEST(HelpTopics, ATypoNamesTheNearest) {
  FakeProcess process;
  EXPECT_EQ(process.Gpuadvise({"help", "rankin"}), kExitUsage);
  EXPECT_NE(process.console.complained.find("did you mean 'ranking'?"), std::string::npos)
      << process.console.complained;
}

TEST(CommandTable, HasWhatTheParserHas) {
  const std::vector<CommandRow> table = CommandTable();
  EXPECT_EQ(table.front().name, "");
  const auto queue = std::find_if(table.begin(), table.end(),
                                  [](const CommandRow& row) { return row.name == "jobs"; });
  ASSERT_NE(queue, table.end());
  const auto state =
      std::find_if(queue->options.begin(), queue->options.end(),
                   [](const OptionRow& option) { return option.names.back() == "--state"; });
  ASSERT_NE(state, queue->options.end());
  EXPECT_EQ(state->names, (std::vector<std::string>{"-t", "--state"}));
  EXPECT_EQ(state->value, "STATE");
  EXPECT_EQ(state->words,
            (std::vector<std::string>{"pending", "running", "ended", "ok", "failed"}));
}

}  // namespace
}  // namespace gpuadvise::client
