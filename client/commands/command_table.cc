#include "client/commands/command_table.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "client/commands/command_line.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// CLI11 keeps the words of IsMember in the name of the type: "TEXT:{pending,running}".
std::vector<std::string> WordsOf(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{');
  const size_t close = type.rfind('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  std::vector<std::string> words;
  for (const std::string_view word :
       SplitAt(std::string_view(type).substr(open + 1, close - open - 1), ',')) {
    words.emplace_back(Trim(word));
  }
  return words;
}

OptionRow RowOf(const CLI::Option& option) {
  OptionRow row;
  row.positional = option.get_positional();
  if (row.positional) {
    row.names = {option.get_name(true, false)};
  } else {
    for (const std::string& name : option.get_snames()) row.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) row.names.push_back("--" + name);
  }
  if (!row.positional && option.get_type_size() != 0) {
    row.value =
        option.get_option_text().empty() ? option.get_type_name() : option.get_option_text();
  }
  row.description = option.get_description();
  row.words = WordsOf(option);
  row.many = option.get_expected_max() > 1;
  return row;
}

CommandRow CommandOf(const CLI::App& app, const std::string& name) {
  CommandRow row{name, app.get_description(), {}};
  for (const bool positional : {true, false}) {
    for (const CLI::Option* option : app.get_options({})) {
      if (option->get_positional() == positional && !option->get_group().empty()) {
        row.options.push_back(RowOf(*option));
      }
    }
  }
  return row;
}

}  // namespace

std::vector<CommandRow> CommandTable() {
  std::vector<CommandRow> table;
  WithParser([&](const CLI::App& app, const std::vector<Command>& commands) {
    table.push_back(CommandOf(app, ""));
    for (const Command& command : commands) {
      if (command.help.empty()) continue;
      table.push_back(CommandOf(*app.get_subcommand(command.name), command.name));
      table.back().foreign = command.foreign;
    }
  });
  return table;
}

}  // namespace gpuadvise::client
