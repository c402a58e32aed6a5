// `reference`: the keys of a train.yaml, from the table that its reader uses.
#include <fmt/format.h>

#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/terminal/display.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/train_keys.h"
#include "common/keys/train_schema.h"

namespace gpuadvise::client {
namespace {

struct ReferenceCommand {
  std::string word;       // only what has this in it; "" all
  bool markdown = false;  // the page of docs/
  bool schema = false;
};

// "a whole number from 1 to 65536, in tokens".
std::string KeyValue(const TrainKey& key) {
  std::string value = ValueInWords(key);
  if (!key.unit.empty()) value += fmt::format("; unit: {}", key.unit);
  return value;
}

bool HasKeys(const TrainKey& key) {
  return key.kind == ValueKind::kMap || key.kind == ValueKind::kList;
}

// Lines of a page, no wider than a terminal shows.
std::string PageLines(std::string_view text, size_t indent) {
  constexpr int kPageWidth = 138;
  std::string page;
  for (const std::string& line : Wrapped(text, kPageWidth)) {
    page += std::string(indent, ' ') + line + "\n";
  }
  return page;
}

std::string KeyEntry(const TrainKey& key) {
  std::string entry = fmt::format("- **`{}`** — {}.", key.name(), KeyValue(key));
  if (!key.usual.empty()) entry += fmt::format(" Default: {}.", key.usual);
  if (!key.option.empty()) {
    entry += fmt::format(" Option: `{}`.", ReplaceAll(std::string(key.option), ",", "`, `"));
  }
  std::string head = PageLines(entry + "<br>", 0);
  head.pop_back();
  return ReplaceAll(std::move(head), "\n", "\n  ") + "\n" + PageLines(key.meaning, 2);
}

// A section, then those inside it.
void AddSection(std::string_view section, const std::string& meaning, std::string& page) {
  page += section.empty() ? "\n## The file\n\n" : fmt::format("\n## `{}`\n\n", section);
  if (!meaning.empty()) page += PageLines(meaning, 0) + "\n";
  for (const TrainKey* key : TrainKeysIn(section)) page += KeyEntry(*key);
  for (const TrainKey* key : TrainKeysIn(section)) {
    if (HasKeys(*key)) AddSection(key->path, std::string(key->meaning), page);
  }
}

std::string KeyPage() {
  std::string page =
      "# Reference of train.yaml\n"
      "\n"
      "All keys of a training file. This page is generated from the table that reads the file\n"
      "(`gpuadvise reference --markdown`); `gpuadvise reference WORD` shows the keys with WORD on "
      "the terminal.\n"
      "\n"
      "Other keys are rejected with the nearest known one. *Option* is the option of `gpuadvise "
      "fit`\n"
      "and `gpuadvise scale` that overrides the key. A file may hold several trainings as named "
      "sections\n"
      "(`--section NAME`); keys outside the sections apply to all of them,\n"
      "where a section does not say otherwise.\n"
      "\n"
      "Editors with a YAML language server complete and check the file if its first line is\n"
      "`# yaml-language-server: $schema=/usr/share/gpuadvise/train.schema.json`\n"
      "(`gpuadvise reference --schema` prints that file).\n";
  AddSection("", "", page);
  return page;
}

std::string KeyInText(const TrainKey& key, int width) {
  std::string text = fmt::format("{}\n", key.path);
  std::string value = KeyValue(key);
  if (!key.usual.empty()) value += fmt::format("; default: {}", key.usual);
  if (!key.option.empty()) value += fmt::format("; option: {}", key.option);
  return text + Indented(value, 4, width) + Indented(std::string(key.meaning), 4, width);
}

int Run(ReferenceCommand& command, const CommandContext& context) {
  Console& console = context.console;
  if (command.markdown || command.schema) {
    console.PrintDocument(command.markdown ? KeyPage() : TrainSchema().dump(2) + "\n");
    return kExitOk;
  }
  std::string text;
  std::vector<std::string> names;
  for (const TrainKey& key : TrainKeys()) {
    names.emplace_back(key.name());
    const bool wanted = ContainsIgnoringCase(key.path, command.word) ||
                        ContainsIgnoringCase(key.option, command.word);
    if (wanted) text += KeyInText(key, console.style().width);
  }
  if (text.empty()) {
    return Report(
        {ErrorCode::kNotFound,
         fmt::format("no key contains '{}'{}", command.word, DidYouMean(command.word, names)), ""},
        console);
  }
  console.Print(text);
  return kExitOk;
}

void AddOptions(ReferenceCommand& command, Options& options) {
  AddWord(options, command.word);
  options.Flag("--markdown", command.markdown, "Print all of them as Markdown");
  options.Flag("--schema", command.schema, "Print a JSON Schema for editors");
}

}  // namespace

Command MakeReferenceCommand() {
  return MakeCommand<ReferenceCommand>("reference", "List the keys of a training file", AddOptions,
                                       Run);
}

}  // namespace gpuadvise::client
