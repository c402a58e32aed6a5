#include "client/commands/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "client/api/exit_code.h"
#include "client/commands/help_text.h"
#include "client/commands/options.h"
#include "client/commands/removed_commands.h"
#include "common/base/text.h"
#include "common/base/version.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

constexpr const char* kExitCodes =
    "\n"
    "Exit codes: 0 ok, 1 error, 2 invalid option or file, 3 no strategy can run the job, 4 "
    "gpuadvised\n"
    "does not answer, 5 data older than --max-age.\n";

bool GivesOneOf(const std::string& word, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return word.starts_with(name + "="); });
}

// All commands, with what their options are read into.
struct Parser {
  Parser()
      : app("Find where and how a training job finishes first on this Slurm cluster, and submit "
            "it.") {
    app.name("gpuadvise");
    app.set_version_flag("--version", std::string("gpuadvise ") + kVersion);
    app.require_subcommand(1);
    app.formatter(HelpFormatter());
    app.footer(kExitCodes);
    for (const auto& make : kAllCommands) {
      const Command& command = commands.emplace_back(make());
      CLI::App* const added = app.add_subcommand(command.name, command.help);
      if (command.help.empty()) added->group("");
      Options options(*added, common);
      command.add(options);
    }
  }

  // nullptr: there is none of that name.
  const Command* Find(const std::string& name) const {
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command& command) { return command.name == name; });
    return found == commands.end() ? nullptr : &*found;
  }

  // " (did you mean 'advise'?)"
  std::string NearCommand(const std::string& name) const {
    std::vector<std::string> names;
    for (const Command& command : commands) {
      if (!command.help.empty()) names.push_back(command.name);
    }
    return DidYouMean(name, names);
  }

  // " (did you mean '--gpu'?)" for an option that `command` (nullptr: none) has not; "" where none
  // was given.
  std::string NearOption(const Command* command) const {
    const CLI::App& of = command == nullptr ? app : *app.get_subcommand(command->name);
    std::vector<std::string> names = {"--json", "--socket",
                                      "--daemon"};  // of all, also before the command
    for (const CLI::Option* option : of.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
    for (const std::string& word : app.remaining(true)) {
      if (word.starts_with("--")) return DidYouMean(word.substr(0, word.find('=')), names);
    }
    return {};
  }

  CLI::App app;
  CommonOptions common;
  std::vector<Command> commands;
};

EarlyExit UsageError(const std::string& sentence, const std::string& command) {
  return {kExitUsage,
          sentence + " (gpuadvise" + (command.empty() ? "" : " " + command) + " --help)"};
}

// Options of all commands that stand before the command, put behind it.
void MoveGlobalWords(std::vector<std::string>* arguments) {
  auto command = arguments->begin();
  while (command != arguments->end()) {
    const bool names = IsOneOf(*command, {"--socket", "--daemon", "-M", "--clusters"});
    const bool with_value = names && command + 1 != arguments->end();
    const bool joined = command->starts_with("--socket=") || command->starts_with("--daemon=") ||
                        command->starts_with("--clusters=");
    if (*command != "--json" && !with_value && !joined) break;
    command += with_value ? 2 : 1;
  }
  if (command == arguments->end()) return;
  std::rotate(arguments->begin(), command, command + 1);
}

OwnWords OwnWordsOf(const CLI::App& command) {
  OwnWords own;
  for (const CLI::Option* option : command.get_options()) {
    std::vector<std::string>& words =
        option->get_items_expected_max() == 0 ? own.flags : own.values;
    for (const std::string& name : option->get_snames()) words.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return own;
}

// Takes the words of `command` that are not ours out of `arguments`.
std::vector<std::string> TakeForeignWords(const Command& command, const CLI::App& app,
                                          std::vector<std::string>* arguments) {
  switch (command.foreign) {
    case ForeignWords::kNone:
      return {};
    case ForeignWords::kAfterDashes:
      return TakeAfterDashes(arguments);
    case ForeignWords::kSbatchOptions:
      return TakeSbatchWords(OwnWordsOf(app), arguments);
    case ForeignWords::kAll:
      return TakeSbatchWords({}, arguments);
  }
  return {};
}

}  // namespace

void WithParser(
    const std::function<void(const CLI::App& app, const std::vector<Command>& commands)>& look) {
  const Parser parser;
  look(parser.app, parser.commands);
}

std::vector<std::string> TakeSbatchWords(const OwnWords& own, std::vector<std::string>* arguments) {
  std::vector<std::string> sbatch;
  std::vector<std::string> ours(arguments->begin(), arguments->begin() + 1);
  for (size_t i = 1; i < arguments->size(); ++i) {
    const std::string& word = (*arguments)[i];
    if (IsOneOf(word, own.flags) || GivesOneOf(word, own.values)) {
      ours.push_back(word);
    } else if (IsOneOf(word, own.values) && i + 1 < arguments->size()) {
      ours.push_back(word);
      ours.push_back((*arguments)[++i]);
    } else {
      sbatch.push_back(word);
    }
  }
  *arguments = std::move(ours);
  return sbatch;
}

std::vector<std::string> TakeAfterDashes(std::vector<std::string>* arguments) {
  const auto dashes = std::find(arguments->begin(), arguments->end(), "--");
  if (dashes == arguments->end()) return {};
  std::vector<std::string> after(dashes + 1, arguments->end());
  arguments->erase(dashes, arguments->end());
  return after;
}

bool WantsJson(const std::vector<std::string>& arguments) {
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  return std::find(arguments.begin(), end, "--json") != end;
}

tl::expected<CommandLine, EarlyExit> ParseCommandLine(std::vector<std::string> arguments) {
  MoveGlobalWords(&arguments);
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (std::string removed = WhyRemoved(arguments); !removed.empty()) {
    return tl::unexpected(EarlyExit{kExitUsage, std::move(removed)});
  }
  Parser parser;
  const Command* const named = parser.Find(name);
  std::vector<std::string> foreign;
  if (named != nullptr) {
    foreign = TakeForeignWords(*named, *parser.app.get_subcommand(name), &arguments);
  }
  try {
    std::reverse(arguments.begin(), arguments.end());  // CLI11's order for vectors
    parser.app.parse(arguments);
  } catch (const CLI::CallForVersion& version) {
    return tl::unexpected(EarlyExit{kExitOk, std::string(version.what()) + "\n"});
  } catch (const CLI::CallForHelp&) {
    return tl::unexpected(EarlyExit{kExitOk, parser.app.help()});
  } catch (const CLI::Error& error) {
    if (named == nullptr && !name.empty() && !name.starts_with('-')) {
      return tl::unexpected(
          UsageError("unknown command '" + name + "'" + parser.NearCommand(name), ""));
    }
    return tl::unexpected(
        UsageError(error.what() + parser.NearOption(named), named == nullptr ? "" : named->name));
  }
  const Command& chosen = *parser.Find(parser.app.get_subcommands().front()->get_name());
  if (chosen.take) {
    if (const Result<void> taken = chosen.take(foreign); !taken) {
      return tl::unexpected(UsageError(taken.error().message, chosen.name));
    }
  }
  return CommandLine{chosen, parser.common};
}

}  // namespace gpuadvise::client
