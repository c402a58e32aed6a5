#include "client/sbatch/sbatch_options.h"

#include <algorithm>
#include <string>

#include "client/shell/shell_words.h"
#include "common/base/text.h"

namespace gpuadvise::client {

namespace {

const SbatchOption* ByLetter(char letter) {
  for (const SbatchOption& option : SbatchOptionTable()) {
    if (option.letter == letter) return &option;
  }
  return nullptr;
}

struct LongMatch {
  const SbatchOption* option = nullptr;
  const SbatchOption* other = nullptr;  // set if the abbreviation is ambiguous
};

// Like getopt_long: the whole name or a unique prefix.
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
    const LongMatch match = ByName(name == "tasks-per-node" ? "ntasks-per-node"
                                   : name == "cluster"      ? "clusters"
                                                            : name);
    if (match.other != nullptr) {
      return BadInput("--" + name + " is ambiguous: --" + std::string(match.option->name) +
                      " or --" + std::string(match.other->name) + "; write it in full");
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

  // "-t10", "-t 10" and combined flags "-Hv".
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
    if (at_ == arguments_.size()) return BadInput(as_written + " needs a value");
    parsed_.options.Set(name, arguments_[at_++]);
    return {};
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  ParsedArguments parsed_;
};

bool IsCommand(std::string_view line) {
  const size_t first = line.find_first_not_of(" \t");
  return first != std::string_view::npos && line[first] != '#';
}

}  // namespace

bool NeedsValue(std::string_view name) {
  const auto table = SbatchOptionTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const SbatchOption& option) { return option.name == name; });
  return found != table.end() && found->takes == Takes::kValue;
}

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
    const bool bare = value.empty() && !NeedsValue(name);
    arguments.push_back(bare ? "--" + name : "--" + name + "=" + value);
  }
  return arguments;
}

Result<ParsedArguments> ParseSbatchArguments(const std::vector<std::string>& arguments) {
  return ArgumentReader(arguments).Read();
}

std::vector<std::string> WithoutArray(const std::vector<std::string>& arguments) {
  constexpr std::string_view kShortest = "--arr";  // that no other option begins with
  constexpr std::string_view kName = "--array";
  std::vector<std::string> others;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view word = arguments[i];
    const std::string_view name = word.substr(0, word.find('='));
    const bool is_long = name.starts_with(kShortest) && kName.starts_with(name);
    const bool is_short = word.starts_with("-a");
    if (!is_long && !is_short) {
      others.push_back(arguments[i]);
    } else if (word == "-a" || (is_long && name == word)) {
      ++i;  // its value
    }
  }
  return others;
}

Result<ParsedArguments> ParseScriptOptions(std::string_view script, const std::string& file) {
  constexpr std::string_view kPrefix = "#SBATCH";
  ParsedArguments all;
  for (int number = 1; !script.empty(); ++number) {
    const std::string_view line = TakeLine(script);
    if (IsCommand(line)) break;
    if (!line.starts_with(kPrefix)) continue;
    const auto words = SplitDirective(line.substr(kPrefix.size()));
    Result<ParsedArguments> parsed = ParseSbatchArguments(words);
    const std::string place = file + ":" + std::to_string(number) + ": ";
    if (!parsed) return BadInput(place + parsed.error().message);
    SbatchOptions more = parsed->options;
    for (const auto& [name, value] : parsed->options.values()) {
      const auto earlier = all.options.Get(name);
      if (!earlier || *earlier == value) continue;
      if (name == "mail-type") {  // Slurm adds them up
        more.Set(name, *earlier + "," + value);
      } else {
        all.replaced.push_back("--" + name + "=" + *earlier);
      }
    }
    all.options.OverrideWith(more);
    for (const std::string& option : parsed->unknown) all.unknown.push_back(option);
    for (const std::string& word : parsed->rest) all.unknown.push_back(word);
  }
  return all;
}

namespace {

constexpr Takes kFlag = Takes::kNothing;
constexpr Takes kMaybe = Takes::kOptionalValue;

constexpr SbatchOption kOptions[] = {
    {"account", 'A'},
    {"acctg-freq"},
    {"array", 'a'},
    {"batch"},
    {"bb"},
    {"bbf"},
    {"begin", 'b'},
    {"chdir", 'D'},
    {"cluster-constraint"},
    {"clusters", 'M'},
    {"comment"},
    {"consolidate-segments", 0, kFlag},
    {"constraint", 'C'},
    {"container"},
    {"container-id"},
    {"contiguous", 0, kFlag},
    {"core-spec", 'S'},
    {"cores-per-socket"},
    {"cpu-freq"},
    {"cpus-per-gpu"},
    {"cpus-per-task", 'c'},
    {"deadline"},
    {"delay-boot"},
    {"dependency", 'd'},
    {"distribution", 'm'},
    {"error", 'e'},
    {"exclude", 'x'},
    {"exclusive", 0, kMaybe},
    {"export"},
    {"export-file"},
    {"extra"},
    {"extra-node-info", 'B'},
    {"get-user-env", 0, kMaybe},
    {"gid"},
    {"gpu-bind"},
    {"gpu-freq"},
    {"gpus", 'G'},
    {"gpus-per-node"},
    {"gpus-per-socket"},
    {"gpus-per-task"},
    {"gres"},
    {"gres-flags"},
    {"help", 'h', kFlag},
    {"hint"},
    {"hold", 'H', kFlag},
    {"ignore-pbs", 0, kFlag},
    {"input", 'i'},
    {"job-name", 'J'},
    {"kill-on-invalid-dep"},
    {"licenses", 'L'},
    {"mail-type"},
    {"mail-user"},
    {"mcs-label"},
    {"mem"},
    {"mem-bind"},
    {"mem-per-cpu"},
    {"mem-per-gpu"},
    {"mincpus"},
    {"network"},
    {"nice", 0, kMaybe},
    {"no-kill", 'k', kMaybe},
    {"no-requeue", 0, kFlag},
    {"nodefile", 'F'},
    {"nodelist", 'w'},
    {"nodes", 'N'},
    {"ntasks", 'n'},
    {"ntasks-per-core"},
    {"ntasks-per-gpu"},
    {"ntasks-per-node"},
    {"ntasks-per-socket"},
    {"oom-kill-step", 0, kMaybe},
    {"open-mode"},
    {"output", 'o'},
    {"overcommit", 'O', kFlag},
    {"oversubscribe", 's', kFlag},
    {"parsable", 0, kFlag},
    {"partition", 'p'},
    {"power"},
    {"prefer"},
    {"priority"},
    {"profile"},
    {"propagate", 0, kMaybe},
    {"qos", 'q'},
    {"quiet", 'Q', kFlag},
    {"reboot", 0, kFlag},
    {"requeue", 0, kFlag},
    {"reservation"},
    {"resv-ports", 0, kMaybe},
    {"segment"},
    {"signal"},
    {"sockets-per-node"},
    {"spread-job", 0, kFlag},
    {"stepmgr", 0, kFlag},
    {"switches"},
    {"test-only", 0, kFlag},
    {"thread-spec"},
    {"threads-per-core"},
    {"time", 't'},
    {"time-min"},
    {"tmp"},
    {"tres-bind"},
    {"tres-per-task"},
    {"uid"},
    {"usage", 0, kFlag},
    {"use-min-nodes", 0, kFlag},
    {"verbose", 'v', kFlag},
    {"version", 'V', kFlag},
    {"wait", 'W', kFlag},
    {"wait-all-nodes"},
    {"wckey"},
    {"wrap"},
};

}  // namespace

std::span<const SbatchOption> SbatchOptionTable() { return kOptions; }

}  // namespace gpuadvise::client
