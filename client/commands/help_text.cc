#include "client/commands/help_text.h"

#include <algorithm>
#include <string>
#include <vector>

namespace gpuadvise::client {
namespace {

constexpr size_t kNameColumns = 32;  // where descriptions begin
constexpr const char* kOwnGroup = "Options";

std::string Line(const std::string& name, const std::string& description) {
  const std::string start = "  " + name;
  const char* const apart = start.size() < kNameColumns ? "" : "\n";
  const size_t filled = start.size() < kNameColumns ? start.size() : 0;
  return start + apart + std::string(kNameColumns - filled, ' ') + description + "\n";
}

// The heading that an option stands under. CLI11 writes the name of the group that no option names
// in small or in capital letters, by release.
std::string GroupOf(const CLI::Option& option) {
  const std::string& group = option.get_group();
  return CLI::detail::to_lower(group) == CLI::detail::to_lower(kOwnGroup) ? kOwnGroup : group;
}

// What follows an option's name: the word that stands for its value.
std::string ValueOf(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return " " + option.get_option_text();
  if (option.get_type_size() == 0) return "";
  std::string text = " " + option.get_type_name();
  if (option.get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
  if (option.get_required()) text += " REQUIRED";
  return text;
}

std::string Lines(const std::string& heading, const std::vector<const CLI::Option*>& options) {
  std::string text = "\n" + heading + ":\n";
  for (const CLI::Option* option : options) {
    const bool positional = option->get_positional();
    text += Line(option->get_name(positional, !positional) + ValueOf(*option),
                 option->get_description());
  }
  return text;
}

std::string Usage(const CLI::App& app, const std::string& name,
                  const std::vector<const CLI::Option*>& positionals) {
  std::string text = "Usage: " + name + " [OPTIONS]";
  for (const CLI::Option* option : positionals) {
    const bool many = option->get_expected_max() >= CLI::detail::expected_max_vector_size;
    const std::string word = option->get_name(true, false) + (many ? "..." : "");
    text += option->get_required() ? " " + word : " [" + word + "]";
  }
  return text + (app.get_subcommands({}).empty() ? "\n" : " SUBCOMMAND\n");
}

class Help : public CLI::FormatterBase {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode) const override {
    const auto positionals = app->get_options([](const CLI::Option* each) {
      return each->get_positional() && !each->get_group().empty();
    });
    std::string text = app->get_description() + "\n" + Usage(*app, name, positionals);
    if (!positionals.empty()) text += Lines("Positionals", positionals);

    std::vector<std::string> groups;  // those that are not hidden, as they first come
    for (const CLI::Option* each : app->get_options({})) {
      const std::string group = GroupOf(*each);
      if (!each->nonpositional() || group.empty()) continue;
      if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
    }
    for (const std::string& group : groups) {
      if (group != groups.front()) text += "\n";
      text += Lines(group, app->get_options([&](const CLI::Option* each) {
        return each->nonpositional() && GroupOf(*each) == group;
      }));
    }

    const auto commands =
        app->get_subcommands([](const CLI::App* each) { return !each->get_group().empty(); });
    if (!commands.empty()) text += "\nSubcommands:\n";
    for (const CLI::App* each : commands) text += Line(each->get_name(), each->get_description());
    const std::string footer = app->get_footer();
    return text + "\n" + (footer.empty() ? "" : footer + "\n");
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> HelpFormatter() { return std::make_shared<Help>(); }

}  // namespace gpuadvise::client
