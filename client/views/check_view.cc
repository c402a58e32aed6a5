#include "client/views/check_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/terminal/text_table.h"

namespace gpuadvise::client {
namespace {

const char* Word(Health health) {
  switch (health) {
    case Health::kOk:
      return "ok";
    case Health::kWarning:
      return "warning";
    case Health::kError:
      return "error";
  }
  return "error";
}

std::string Coloured(Health health, bool colour) {
  const std::string word = Word(health);
  const std::string padded = word + std::string(9 - word.size(), ' ');
  if (health == Health::kOk) return Green(padded, colour);
  return health == Health::kWarning ? Yellow(padded, colour) : Red(padded, colour);
}

// A word in a column of its own before text that wraps beside it.
std::string BesideWord(const std::string& word, const std::string& shown, const std::string& words,
                       const TerminalStyle& style) {
  constexpr int kIndent = 14;
  std::string text = shown + std::string(kIndent - word.size(), ' ');
  bool first = true;
  for (const std::string& line : Wrapped(Printable(words), std::max(30, style.width - kIndent))) {
    text += (first ? "" : std::string(kIndent, ' ')) + line + "\n";
    first = false;
  }
  return text;
}

}  // namespace

std::string SiteText(const api::Site& site, const TerminalStyle& style) {
  std::string text;
  for (const std::string& problem : site.problems) {
    text += BesideWord("problem", Red("problem", style.colour), problem, style);
  }
  for (const char* treatment : {"not known", "approximated", "simulated"}) {
    for (const api::SiteKey& each : site.settings) {
      if (each.treatment != treatment) continue;
      const std::string word = treatment;
      const std::string shown = word == "simulated"      ? Green(word, style.colour)
                                : word == "approximated" ? Yellow(word, style.colour)
                                                         : Red(word, style.colour);
      text +=
          BesideWord(word, shown,
                     each.place + " " + each.key + " (" + each.value + "): " + each.effect, style);
    }
  }
  if (site.settings.empty()) text += "gpuadvised has not read this site's slurm.conf\n";
  return text;
}

std::string CheckText(const Check& check, const TerminalStyle& style) {
  constexpr int kIndent = 21;
  std::string subject = check.subject;
  subject.resize(12, ' ');
  std::string text = Coloured(check.health, style.colour) + subject;
  bool first = true;
  for (const std::string& line :
       Wrapped(Printable(check.finding), std::max(30, style.width - kIndent))) {
    text += (first ? "" : std::string(kIndent, ' ')) + line + "\n";
    first = false;
  }
  return text;
}

nlohmann::json ChecksJson(const std::vector<Check>& checks) {
  nlohmann::json list = nlohmann::json::array();
  for (const Check& check : checks) {
    list.push_back(
        {{"check", check.subject}, {"health", Word(check.health)}, {"finding", check.finding}});
  }
  return list;
}

bool HasError(const std::vector<Check>& checks) {
  return std::any_of(checks.begin(), checks.end(),
                     [](const Check& check) { return check.health == Health::kError; });
}

}  // namespace gpuadvise::client
