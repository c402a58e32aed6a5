#include "client/sbatch/array_items.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/sbatch/job_words.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

struct Reference {
  std::string text;   // "${lrs[$i]}"
  std::string name;   // "lrs"
  std::string index;  // "$i"
};

// The names that `text` uses as variables: "i" of "$i + 1", "${i}" and, in arithmetic, "i".
std::vector<std::string> NamesIn(std::string_view text) {
  std::vector<std::string> names;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    while (end < text.size() && IsNamePart(text[end])) ++end;
    if (end > at && !IsDigit(text[at])) names.emplace_back(text.substr(at, end - at));
    at = std::max(end, at + 1);
  }
  return names;
}

// "${name[index]}", "${#name[@]}" or "${!name[@]}" at the start of `text`; empty where there is
// none.
Reference ReferenceAtStart(std::string_view text) {
  const size_t start = text.size() > 2 && (text[2] == '#' || text[2] == '!') ? 3 : 2;
  size_t at = start;
  while (at < text.size() && IsNamePart(text[at])) ++at;
  if (at == start || at >= text.size() || text[at] != '[') return {};
  const std::string name(text.substr(start, at - start));
  int depth = 0;
  for (size_t end = at; end < text.size() && text[end] != '\n'; ++end) {
    if (text[end] == '[' || text[end] == '{') ++depth;
    if (text[end] != ']' && text[end] != '}') continue;
    if (depth-- > 0) continue;
    const std::string whole(text.substr(0, end + 1));
    const size_t close = whole.rfind(']');
    return {whole, name, whole.substr(at + 1, close - at - 1)};
  }
  return {};
}

std::vector<Reference> ReferencesIn(std::string_view text) {
  std::vector<Reference> references;
  for (size_t at = text.find("${"); at != std::string_view::npos; at = text.find("${", at + 1)) {
    if (Reference found = ReferenceAtStart(text.substr(at)); !found.text.empty()) {
      references.push_back(std::move(found));
    }
  }
  return references;
}

// Whether `text` has `name` followed or led by what makes it a variable of that text.
bool Assigns(std::string_view text, const std::string& name) {
  for (const std::string& form :
       {name + "=", "for " + name + " ", "read " + name, "mapfile -t " + name,
        "readarray -t " + name, "read -a " + name, "read -r -a " + name, "read -ra " + name}) {
    for (size_t at = text.find(form); at != std::string_view::npos; at = text.find(form, at + 1)) {
      if (at == 0 || !IsNamePart(text[at - 1])) return true;
    }
  }
  return false;
}

// The same of a command, where "--lr=…" and a later word "lr=…" are arguments.
bool CommandAssigns(std::string_view command, const std::string& name) {
  const auto begins = [&](size_t at) {
    const size_t before = command.find_last_not_of(" \t", at - 1);
    if (at == 0 || before == std::string_view::npos) return true;
    if (std::string_view("\n;&|({'\"").find(command[before]) != std::string_view::npos) return true;
    const std::string_view earlier = command.substr(0, before + 1);
    return earlier.ends_with("export") || earlier.ends_with(" do") || earlier.ends_with(" then");
  };
  const std::string form = name + "=";
  for (size_t at = command.find(form); at != std::string_view::npos;
       at = command.find(form, at + 1)) {
    const bool whole = at == 0 || !IsNamePart(command[at - 1]);
    if (whole && begins(at)) return true;
  }
  std::string others(command);
  for (size_t at = others.find(form); at != std::string::npos; at = others.find(form, at)) {
    others.erase(at, form.size());
  }
  return Assigns(others, name);
}

// The references to arrays of the setup.
std::vector<Reference> ReferencesOf(const json& spec) {
  std::string setup;
  for (const std::string& line : RawTexts(spec, "setup")) setup += line + "\n";
  const std::string command = RawText(spec, "command");
  std::vector<Reference> references = ReferencesIn(command);
  std::erase_if(references, [&](const Reference& each) {
    return CommandAssigns(command, each.name) || !Assigns(setup, each.name);
  });
  return references;
}

bool IsWhole(const Reference& reference) {
  return reference.index == "@" || reference.index == "*";
}

}  // namespace

std::vector<ArrayItem> FindArrayItems(const json& spec) {
  std::vector<ArrayItem> items;
  for (const Reference& reference : ReferencesOf(spec)) {
    const bool is_known = std::any_of(items.begin(), items.end(), [&](const ArrayItem& item) {
      return item.reference == reference.text;
    });
    if (is_known || IsWhole(reference)) continue;
    items.push_back({reference.text, fmt::format("GPUADVISE_ITEM_{}", items.size() + 1)});
  }
  return items;
}

Result<void> CheckArrays(const json& spec) {
  const std::string command = RawText(spec, "command");
  for (const Reference& reference : ReferencesOf(spec)) {
    const std::vector<std::string> names = NamesIn(reference.index);
    const bool chosen_there = std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      return CommandAssigns(command, name);
    });
    if (!IsWhole(reference) && !chosen_there) continue;
    return BadInput(
        fmt::format("command uses {}, an array of setup that its own shell does not have; write "
                    "the words into the command, or assign the array there",
                    reference.text),
        "/command");
  }
  return {};
}

std::string WithItems(std::string command, const std::vector<ArrayItem>& items) {
  for (const ArrayItem& item : items) {
    command = ReplaceAll(command, item.reference, "${" + item.variable + "}");
  }
  return command;
}

}  // namespace gpuadvise::client
