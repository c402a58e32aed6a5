// gpuadvise-man TEMPLATE OUTPUT: a man page as scdoc, from its text and the programs' own tables.
//
// Runs while gpuadvise is built. A line of the template that is only a mark is replaced:
//   @COMMANDS@    the commands of gpuadvise with their options, from its parser
//   @TRAIN_KEYS@  the keys of a train.yaml
//   @SETTINGS@    the keys of gpuadvised.yaml with the comments of the shipped file
// The options of the other programs stand in the templates;
// tests/docs/man_test.py compares them with --help.
#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "client/commands/command_table.h"
#include "common/base/text.h"
#include "common/training/train_keys.h"
#include "embedded/default_settings.h"

namespace gpuadvise::man {
namespace {

// `text` as it is: scdoc's own marks lose their meaning.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (std::string_view("\\*_#`~[]|<>").find(c) != std::string_view::npos) plain += '\\';
    plain += c;
  }
  return plain;
}

// Markdown's code marks and links are no part of a man page.
std::string WithoutMarkdown(const std::string& text) {
  static const std::regex kLink(R"(\[([^\]]*)\]\([^)]*\))");
  return ReplaceAll(std::regex_replace(text, kLink, "$1"), "`", "");
}

// A paragraph under the line before it.
std::string Below(std::string_view text) { return "\t" + Plain(text) + "\n\n"; }

// Lines that keep their shape.
std::string Literal(std::string_view lines, std::string_view indent) {
  std::string text = std::string(indent) + "```\n";
  while (!lines.empty()) text += std::string(indent) + std::string(TakeLine(lines)) + "\n";
  return text + std::string(indent) + "```\n\n";
}

std::string OptionText(const client::OptionRow& option) {
  std::string head;
  for (const std::string& name : option.names) {
    if (!head.empty()) head += ", ";
    head += "*" + Plain(name) + "*";
  }
  if (!option.value.empty()) head += " _" + Plain(ReplaceAll(option.value, "_", "-")) + "_";
  return head + "\n" + Below(option.description);
}

std::string Synopsis(const client::CommandRow& command) {
  std::string line = "*gpuadvise " + command.name + "* \\[OPTIONS\\]";
  for (const client::OptionRow& option : command.options) {
    if (!option.positional) continue;
    const std::string name = Plain(option.names.front()) + (option.many ? " ..." : "");
    line += option.required ? " " + name : " \\[" + name + "\\]";
  }
  return line + "\n\n";
}

std::string CommandText(const client::CommandRow& command) {
  std::string text = "## " + command.name + "\n\n" + Synopsis(command);
  text += Plain(command.description) + ".\n\n";
  std::string group = "Options";
  for (const client::OptionRow& option : command.options) {
    if (option.names.back() == "--help") continue;  // every command has it
    if (!option.positional && option.group != group) {
      group = option.group;
      text += Plain(group) + ":\n\n";
    }
    text += OptionText(option);
  }
  const std::string_view footer = Trim(command.footer);
  const size_t first = footer.find_first_not_of('\n');
  if (first != std::string_view::npos) text += Literal(footer.substr(first), "");
  return text;
}

std::string Commands() {
  std::string text;
  for (const client::CommandRow& command : client::CommandTable()) {
    if (!command.name.empty()) text += CommandText(command);
  }
  return text;
}

bool HoldsKeys(const TrainKey& key) {
  return key.kind == ValueKind::kMap || key.kind == ValueKind::kList;
}

std::string KeyText(const TrainKey& key) {
  std::string value = ValueInWords(key);
  if (!key.unit.empty()) value += fmt::format("; unit: {}", key.unit);
  value += ".";
  if (!key.usual.empty()) value += fmt::format(" Default: {}.", key.usual);
  if (!key.option.empty()) {
    value += fmt::format(" Option: {}.", ReplaceAll(std::string(key.option), ",", ", "));
  }
  return fmt::format("*{}*\n", Plain(key.path)) + Below(WithoutMarkdown(value)) +
         Below(WithoutMarkdown(std::string(key.meaning)));
}

void AddKeys(std::string_view section, std::string& text) {
  for (const TrainKey* key : TrainKeysIn(section)) text += KeyText(*key);
  for (const TrainKey* key : TrainKeysIn(section)) {
    if (!HoldsKeys(*key)) continue;
    text += fmt::format("## {}\n\n", key->path);
    AddKeys(key->path, text);
  }
}

std::string Keys() {
  std::string text;
  AddKeys("", text);
  return text;
}

// Comment lines as paragraphs; those in columns or further in keep their shape.
std::string CommentText(const std::vector<std::string>& lines, std::string_view indent) {
  std::string text, paragraph, shaped;
  const auto flush = [&] {
    if (!paragraph.empty()) text += std::string(indent) + Plain(paragraph) + "\n\n";
    if (!shaped.empty()) text += Literal(shaped, indent);
    paragraph.clear();
    shaped.clear();
  };
  for (const std::string& line : lines) {
    const bool is_shaped = line.find("  ") != std::string::npos;
    if (is_shaped != !shaped.empty()) flush();
    if (is_shaped) {
      shaped += line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  flush();
  return text;
}

// config/gpuadvised.yaml: headings "# ---- who ... ----", comments, and the keys below them.
std::string Settings() {
  std::string text;
  std::vector<std::string> comment, keys;
  const auto flush = [&] {
    for (size_t i = 0; i < keys.size(); ++i) {
      text += "*" + Plain(keys[i]) + "*" + (i + 1 < keys.size() ? "++" : "") + "\n";
    }
    text += CommentText(comment, keys.empty() ? "" : "\t");
    comment.clear();
    keys.clear();
  };
  std::string_view rest = DefaultSettingsYaml();
  while (!rest.empty()) {
    const std::string line(TakeLine(rest));
    if (line.starts_with("# ---- ")) {
      flush();
      const size_t end = line.find(" --", 7);
      text += "## " + Plain(line.substr(7, end - 7)) + "\n\n";
    } else if (line.empty()) {
      flush();
    } else if (line[0] == '#') {
      comment.push_back(line.size() > 2 ? line.substr(2) : "");
    } else {
      keys.push_back(line);
    }
  }
  flush();
  return text;
}

int Make(const char* from, const char* to) {
  std::ifstream source(from);
  std::ofstream page(to);
  for (std::string line; std::getline(source, line);) {
    page << (line == "@COMMANDS@"     ? Commands()
             : line == "@TRAIN_KEYS@" ? Keys()
             : line == "@SETTINGS@"   ? Settings()
                                      : line + "\n");
  }
  page.close();
  if (source.bad() || !page) {
    fmt::print(stderr, "gpuadvise-man: cannot make {} from {}\n", to, from);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace gpuadvise::man

int main(int argc, char** argv) {
  if (argc == 3) return gpuadvise::man::Make(argv[1], argv[2]);
  std::fputs("usage: gpuadvise-man TEMPLATE OUTPUT\n", stderr);
  return 2;
}
