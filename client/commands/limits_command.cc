// `gpuadvise limits`: what shorter time limits would have been worth, from jobs that have ended.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/api/http_client.h"
#include "client/commands/commands.h"
#include "client/terminal/display.h"
#include "client/terminal/text_table.h"
#include "client/views/limits_view.h"
#include "common/base/date_time.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

Result<std::string> TargetOf(const LimitsCommand& command, int64_t now) {
  std::vector<std::string> query;
  if (!command.user.empty() && command.user != "me")
    query.push_back("user=" + QueryEncoded(command.user));
  if (!command.since.empty()) {
    const Result<int64_t> since = ParsePastDateTime(command.since, now);
    if (!since) return BadInput("--since: " + since.error().message);
    query.push_back(fmt::format("since={}", *since));
  }
  return "/v1/limits" + (query.empty() ? "" : "?" + Join(query, "&"));
}

}  // namespace

int RunLimits(const LimitsCommand& command, Api& api, Console& console) {
  const Result<std::string> target = TargetOf(command, console.now());
  if (!target) return Report(target.error(), console);
  const Result<json> answer = api.Get(*target);
  if (!answer) return Report(answer.error(), console);
  if (command.json) {
    PrintJson(*answer, console);
  } else {
    console.Print(PastLimitsText(*answer, console.now(), console.style()));
  }
  return kExitOk;
}

}  // namespace gpuadvise::client
