#include "client/sbatch_options.h"

#include <string>

#include "client/sbatch_option_table.h"

namespace gpuadvise {
namespace {

const SbatchOption* ByLetter(char letter) {
  for (const SbatchOption& option : SbatchOptionTable()) {
    if (option.letter == letter) return &option;
  }
  return nullptr;
}

struct LongMatch {
  const SbatchOption* option = nullptr;
  const SbatchOption* other = nullptr;  // set when the abbreviation is ambiguous
};

// As getopt_long: the whole name, or a prefix that only one name has.
LongMatch ByName(std::string_view name) {
  LongMatch match;
  for (const SbatchOption& option : SbatchOptionTable()) {
    if (option.name == name) return {&option, nullptr};
    if (name.empty() || !option.name.starts_with(name)) continue;
    if (match.option == nullptr) {
      match.option = &option;
    } else {
      if (match.other == nullptr) match.other = &option;
    }
  }
  return match;
}

// Walks over the arguments; each Read function consumes one option.
class ArgumentReader {
 public:
  explicit ArgumentReader(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<ParsedArguments> Read() {
    while (at_ < arguments_.size()) {
      const std::string& word = arguments_[at_];
      if (word == "--") {
        ++at_;
        break;
      }
      if (word.size() < 2 || word[0] != '-') break;
      ++at_;
      Result<void> read = word[1] == '-' ? ReadLong(word.substr(2)) : ReadShort(word);
      if (!read) return tl::unexpected<Error>(read.error());
    }
    parsed_.rest.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(at_), arguments_.end());
    return std::move(parsed_);
  }

 private:
  Result<void> ReadLong(const std::string& word) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const LongMatch match = ByName(name);
    if (match.other != nullptr) {
      return BadInput("--" + name + " could be --" + std::string(match.option->name) + " or --" +
                      std::string(match.other->name) + "; write it out");
    }
    if (match.option == nullptr) {
      parsed_.unknown.push_back("--" + word);
      return {};
    }
    const std::string full(match.option->name);
    if (equals != std::string::npos) {
      parsed_.options.Set(full, word.substr(equals + 1));
    } else if (match.option->takes == Takes::kValue) {
      return SetFromNext(full, "--" + full);
    } else {
      parsed_.options.Set(full, "");
    }
    return {};
  }

  // "-t10", "-t 10" and flags together: "-Hv".
  Result<void> ReadShort(const std::string& word) {
    for (size_t i = 1; i < word.size(); ++i) {
      const SbatchOption* option = ByLetter(word[i]);
      if (option == nullptr) {
        parsed_.unknown.push_back(word);
        return {};
      }
      const std::string name(option->name);
      if (option->takes == Takes::kValue) {
        if (i + 1 == word.size()) return SetFromNext(name, std::string("-") + word[i]);
        parsed_.options.Set(name, word.substr(word[i + 1] == '=' ? i + 2 : i + 1));
        return {};
      }
      parsed_.options.Set(name, "");
      if (option->takes == Takes::kOptionalValue) return {};
    }
    return {};
  }

  Result<void> SetFromNext(const std::string& name, const std::string& as_written) {
    if (at_ == arguments_.size()) return BadInput(as_written + " needs a value after it");
    parsed_.options.Set(name, arguments_[at_++]);
    return {};
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  ParsedArguments parsed_;
};

std::string_view NextLine(std::string_view* text) {
  const size_t end = text->find('\n');
  std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsCommand(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] != '#';
}

}  // namespace

std::optional<std::string> SbatchOptions::Get(const std::string& name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) return std::nullopt;
  return found->second;
}

void SbatchOptions::OverrideWith(const SbatchOptions& stronger) {
  for (const auto& [name, value] : stronger.values_) values_[name] = value;
}

std::vector<std::string> SbatchOptions::ToArguments() const {
  std::vector<std::string> arguments;
  for (const auto& [name, value] : values_) {
    arguments.push_back(value.empty() ? "--" + name : "--" + name + "=" + value);
  }
  return arguments;
}

Result<ParsedArguments> ParseSbatchArguments(const std::vector<std::string>& arguments) {
  return ArgumentReader(arguments).Read();
}

std::vector<std::string> SplitDirective(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\\' && quote != '\'' && i + 1 < line.size()) {
      word += line[++i];
      in_word = true;
    } else if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      in_word = true;
    } else if (c == ' ' || c == '\t') {
      if (in_word) words.push_back(std::move(word));
      word.clear();
      in_word = false;
    } else if (c == '#') {
      break;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(std::move(word));
  return words;
}

Result<ParsedArguments> ParseScriptOptions(std::string_view script, const std::string& file) {
  constexpr std::string_view kPrefix = "#SBATCH";
  ParsedArguments all;
  for (int number = 1; !script.empty(); ++number) {
    const std::string_view line = NextLine(&script);
    if (IsCommand(line)) break;
    if (!line.starts_with(kPrefix)) continue;
    const auto words = SplitDirective(line.substr(kPrefix.size()));
    Result<ParsedArguments> parsed = ParseSbatchArguments(words);
    const std::string place = file + ":" + std::to_string(number) + ": ";
    if (!parsed) return BadInput(place + parsed.error().message);
    all.options.OverrideWith(parsed->options);
    for (const std::string& option : parsed->unknown) all.unknown.push_back(option);
    for (const std::string& word : parsed->rest) all.unknown.push_back(word);
  }
  return all;
}

}  // namespace gpuadvise
