#include "client/commands/removed_commands.h"

#include <fmt/format.h>

#include <algorithm>

namespace gpuadvise::client {
namespace {

struct RemovedCommand {
  const char* command;
  const char* option;  // "": the whole command
  const char* instead;
};

constexpr RemovedCommand kRemovedCommands[] = {
    {"limits", "",
     "`gpuadvise jobs` and `gpuadvise eff` show what ended jobs used of their time limits, "
     "`gpuadvise when --limits` what a shorter limit is worth"},
    {"mcp", "", "an assistant's settings name the program `gpuadvise-mcp` (see docs/mcp.md)"},
    {"watch", "--notify",
     "`gpuadvise watch JOBID --exec COMMAND` runs a command of yours at each event"},
};

}  // namespace

std::string WhyRemoved(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return "";
  for (const auto& [command, option, instead] : kRemovedCommands) {
    const bool whole = std::string(option).empty();
    const bool is_asked =
        arguments.front() == command &&
        (whole || std::find(arguments.begin() + 1, arguments.end(), option) != arguments.end());
    if (is_asked) {
      return fmt::format("`{}{}{}` was removed: {}", command, whole ? "" : " ", option, instead);
    }
  }
  return "";
}

}  // namespace gpuadvise::client
