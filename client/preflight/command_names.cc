#include "client/preflight/command_names.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "common/base/text.h"

namespace gpuadvise::client {
namespace {

// Effects of a simple command on later ones: it may add programs to PATH, create files, or run on
// other files than this machine's. Judged by names; in doubt assumed, so that a check only warns
// and does not prevent a submission.
constexpr auto kShellsOwn = std::to_array<std::string_view>(
    {"!",        ".",       ":",        "[",         "[[",      "]]",      "alias",   "bg",
     "bind",     "break",   "builtin",  "caller",    "case",    "cd",      "command", "compgen",
     "complete", "compopt", "continue", "coproc",    "declare", "dirs",    "disown",  "do",
     "done",     "echo",    "elif",     "else",      "enable",  "esac",    "eval",    "exec",
     "exit",     "export",  "false",    "fc",        "fg",      "fi",      "for",     "getopts",
     "hash",     "help",    "history",  "if",        "in",      "jobs",    "kill",    "let",
     "local",    "logout",  "mapfile",  "ml",        "module",  "popd",    "printf",  "pushd",
     "pwd",      "read",    "readonly", "readarray", "return",  "select",  "set",     "shift",
     "shopt",    "source",  "suspend",  "test",      "then",    "time",    "times",   "trap",
     "true",     "type",    "typeset",  "ulimit",    "umask",   "unalias", "unset",   "until",
     "wait",     "while",   "function", "{",         "}"});
constexpr auto kBringers =
    std::to_array<std::string_view>({"source", ".", "eval", "module", "ml", "alias", "conda",
                                     "mamba", "micromamba", "spack", "pip", "pip3", "uv"});
// Shell words that run a file or are used with `>`.
constexpr auto kMakers =
    std::to_array<std::string_view>({"source", ".", "eval", "echo", "printf", "exec"});
constexpr auto kElsewhere = std::to_array<std::string_view>(
    {"apptainer", "singularity", "docker", "podman", "podman-hpc", "enroot", "shifter", "ssh"});

std::string_view ProgramName(const SimpleCommand& command) {
  const std::string_view word = command.front().text;
  return word.substr(word.rfind('/') + 1);  // all of it without a '/'
}

// Whether it is a builtin or reserved word of bash, or `module`, which clusters define.
bool IsShellsOwn(std::string_view word) { return IsOneOf(word, kShellsOwn); }

// Whether it may add programs to PATH: `source`, `module`, `PATH=…`.
bool MayBringPrograms(const SimpleCommand& command) {
  if (!command.front().certain && !IsShellsOwn(command.front().text)) return true;
  if (IsOneOf(ProgramName(command), kBringers)) return true;
  return IsShellsOwn(command.front().text) &&
         std::any_of(command.begin(), command.end(), [](const ShellWord& word) {
           return word.text.starts_with("PATH=") || word.text.starts_with("PATH+=");
         });
}

// Whether it may create files.
bool MayMakeFiles(const SimpleCommand& command) {
  const std::string& word = command.front().text;
  return !IsShellsOwn(word) || IsOneOf(word, kMakers);
}

// Whether its files are in a container or on another machine.
bool RunsElsewhere(const SimpleCommand& command) {
  if (IsOneOf(ProgramName(command), kElsewhere)) return true;
  return std::any_of(command.begin(), command.end(), [](const ShellWord& word) {
    return word.text.starts_with("--container-image");  // srun's option of pyxis
  });
}

template <size_t N>
bool EndsInOneOf(std::string_view word, const std::array<std::string_view, N>& ends) {
  return std::any_of(ends.begin(), ends.end(),
                     [&](std::string_view end) { return word.ends_with(end); });
}

// Words that may precede the program's name.
constexpr std::array<std::string_view, 5> kPrefixes = {"!", "exec", "time", "command", "builtin"};
constexpr std::array<std::string_view, 4> kShells = {"bash", "sh", "zsh", "dash"};
constexpr std::array<std::string_view, 3> kDataWords = {"data", "dataset", "datasets"};
// Parts of names of folders that the run itself fills.
constexpr std::array<std::string_view, 5> kOwnWords = {"cache", "output", "out", "save", "base"};
constexpr std::array<std::string_view, 2> kScriptEnds = {".py", ".sh"};
constexpr std::array<std::string_view, 4> kSettingsEnds = {".json", ".yaml", ".yml", ".toml"};
constexpr std::array<std::string_view, 5> kPathNames = {"path", "dir", "file", "root", "folder"};
constexpr std::array<std::string_view, 9> kDataEnds = {".json",    ".jsonl", ".csv", ".tsv", ".txt",
                                                       ".parquet", ".arrow", ".tar", ".h5"};

// An option with the words up to the next one: "--data-path a b", "--data-path=a".
struct Option {
  std::string name;  // without dashes, with '_' for '-', in lower case: "data_path"
  std::string written;
  std::vector<std::string> values;  // certain ones only
};

std::string OptionName(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return ReplaceAll(LowerCase(word.substr(0, word.find('='))), "-", "_");
}

std::vector<Option> ReadOptions(const SimpleCommand& command) {
  std::vector<Option> options;
  for (const ShellWord& word : command) {
    const std::string& text = word.text;
    if (text.starts_with('-') && text.size() > 1 && text.find_first_not_of('-') != text.npos) {
      const size_t equals = text.find('=');
      options.push_back({OptionName(text), text.substr(0, equals), {}});
      if (equals != text.npos && word.certain) options.back().values = {text.substr(equals + 1)};
    } else if (!options.empty() && word.certain) {
      options.back().values.push_back(text);
    }
  }
  return options;
}

bool StartsLikeAPath(std::string_view value) {
  return value.starts_with('/') || value.starts_with("./") || value.starts_with("../");
}

bool IsAddress(std::string_view value) { return value.find("://") != std::string_view::npos; }

std::vector<std::string> NameParts(const std::string& name) {
  std::vector<std::string> words(1);
  for (const char c : name) {
    if (c == '_' || c == '.') {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  return words;
}

template <size_t N>
bool HasOneOf(const std::vector<std::string>& words, const std::array<std::string_view, N>& list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const std::string& word) { return IsOneOf(word, list); });
}

bool NamesData(const Option& option) {
  if (option.name == "train_file" || option.name == "validation_file") return true;
  const std::vector<std::string> words = NameParts(option.name);
  return HasOneOf(words, kDataWords) && !HasOneOf(words, kOwnWords);
}

// Whether it is a share of a mixture or a program-specific list.
bool IsNoPath(std::string_view value) {
  return value.find_first_not_of("0123456789.") == value.npos || value.find(',') != value.npos;
}

// "dataset_name wikitext" is on the Hub; "dataset_path demo" and "data x.jsonl" are files.
bool LooksLikeData(const Option& option, const std::string& value) {
  if (IsAddress(value) || IsNoPath(value)) return false;
  if (StartsLikeAPath(value) || EndsInOneOf(value, kDataEnds)) return true;
  return EndsInOneOf(option.name, kPathNames);
}

bool NamesSettings(const Option& option) {
  return option.name == "deepspeed" || option.name.starts_with("config") ||
         option.name.ends_with("_config");
}

// Whether it is "org/name" and cannot be a path.
bool IsHubName(std::string_view value) {
  const size_t slash = value.find('/');
  if (slash == 0 || slash == value.npos || slash + 1 == value.size()) return false;
  if (value.find('/', slash + 1) != value.npos || StartsLikeAPath(value)) return false;
  return std::isalnum(static_cast<unsigned char>(value[0])) != 0 &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                  std::string_view("/-_.").find(c) != std::string_view::npos;
         });
}

bool NamesModel(const Option& option) {
  const std::string& name = option.name;
  return name.find("model") != std::string::npos && name.find("dir") == std::string::npos &&
         name.find("output") == std::string::npos;
}

std::optional<int64_t> WholeNumber(const Option& option) {
  if (option.values.empty()) return {};
  const auto number = gpuadvise::WholeNumber(option.values.front());
  return number == 0 ? std::nullopt : number;
}

class NameCollector {
 public:
  NameCollector(std::string folder, CommandNames* names)
      : folder_(std::move(folder)), names_(names) {}

  void Take(SimpleCommand command) {
    while (command.size() > 1 && IsOneOf(command.front().text, kPrefixes)) {
      command.erase(command.begin());
    }
    Read(command);
    may_be_made_ = may_be_made_ || MayMakeFiles(command);
    may_be_brought_ = may_be_brought_ || MayBringPrograms(command);
  }

 private:
  void Read(const SimpleCommand& command) {
    const std::string& program = command.front().text;
    if (program == "cd" || program == "pushd") return ChangeFolder(command);
    if (program == "popd") return folder_.clear();
    if (IsShellsOwn(program) || !command.front().certain) return;
    if (program.starts_with('-')) return;  // option of a prefix: `command -v torchrun` runs nothing
    NameProgram(program);
    if (RunsElsewhere(command)) return;
    TakeScript(command);
    for (const Option& option : ReadOptions(command)) TakeOption(option);
    TakeDownload(command);
  }

  // The folder is unknown after `cd -` and `pushd +1`.
  void ChangeFolder(const SimpleCommand& command) {
    const bool known = command.size() == 2 && command[1].certain &&
                       !command[1].text.starts_with('-') && !command[1].text.starts_with('+');
    folder_ = known && !(folder_.empty() && !command[1].text.starts_with('/'))
                  ? PathBeside(folder_, command[1].text)
                  : "";
  }

  void NameProgram(const std::string& program) {
    const bool is_path = program.find('/') != std::string::npos;
    if (!is_path) return names_->programs.push_back({program, may_be_brought_});
    if (folder_.empty() && !program.starts_with('/')) return;
    names_->programs.push_back({PathBeside(folder_, program), may_be_brought_ || may_be_made_});
  }

  // Skips relative paths if the folder is unknown.
  void Name(const std::string& written, const std::string& path, std::vector<NamedPath>* list) {
    if (folder_.empty() && !path.starts_with('/')) return;
    list->push_back({written, PathBeside(folder_, path), false, may_be_made_});
  }

  void NameData(const std::string& written, const std::string& value) {
    const size_t before = names_->data.size();
    Name(written, value, &names_->data);
    if (names_->data.size() == before) return;
    names_->data.back().may_be_hub = IsHubName(value) && !EndsInOneOf(value, kDataEnds);
  }

  void NameModel(const std::string& model) {
    const std::string path = folder_.empty() ? "" : PathBeside(folder_, model);
    names_->hub_models.push_back({model, path, true, may_be_made_});
  }

  // Whether the next word is program text and later ones its arguments: "-c" of Python, "-c" and
  // "-lc" of shells.
  static bool GivesText(const ShellWord& word, bool is_shell) {
    const std::string& text = word.text;
    if (text == "-c") return true;
    return is_shell && text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
  }

  void TakeScript(const SimpleCommand& command) {
    bool is_shell = false;
    for (const ShellWord& word : command) {
      is_shell = is_shell || IsOneOf(word.text.substr(word.text.rfind('/') + 1), kShells);
      if (GivesText(word, is_shell)) return;
      if (&word == &command.front() || word.text.starts_with('-')) continue;
      if (!EndsInOneOf(word.text, kScriptEnds) || word.text.find(' ') != word.text.npos) continue;
      if (word.certain) Name(word.text, word.text, &names_->scripts);
      return;  // later words are its own arguments
    }
  }

  void TakeOption(const Option& option) {
    if (option.name == "push_to_hub") {
      names_->pushes_to_hub = option.values.empty() || OptionName(option.values[0]) != "false";
    }
    if (option.name == "save_steps") names_->save_steps = WholeNumber(option);
    if (option.name == "save_total_limit") names_->save_total_limit = WholeNumber(option);
    for (const std::string& value : option.values) TakeValue(option, value);
  }

  void TakeValue(const Option& option, const std::string& value) {
    const std::string written = option.written + " " + value;
    if (option.name == "output_dir" && (!folder_.empty() || value.starts_with('/'))) {
      names_->output_dir = PathBeside(folder_, value);
    } else if (NamesSettings(option) && EndsInOneOf(value, kSettingsEnds)) {
      Name(written, value, &names_->settings);
    } else if (NamesData(option) && LooksLikeData(option, value)) {
      NameData(written, value);
    } else if (NamesModel(option) && IsHubName(value)) {
      NameModel(value);
    }
  }

  // "hf download org/name", "huggingface-cli download org/name".
  void TakeDownload(const SimpleCommand& command) {
    const bool hub = command[0].text == "hf" || command[0].text == "huggingface-cli";
    if (!hub || command.size() < 3 || command[1].text != "download") return;
    if (command[2].certain && IsHubName(command[2].text)) NameModel(command[2].text);
  }

  std::string folder_;           // "": unknown
  bool may_be_made_ = false;     // commands so far may create missing files
  bool may_be_brought_ = false;  // commands so far may add to PATH
  CommandNames* names_;
};

}  // namespace

CommandNames NamesIn(const std::vector<SimpleCommand>& commands, const std::string& folder) {
  CommandNames names;
  NameCollector collector(folder, &names);
  for (const SimpleCommand& command : commands) collector.Take(command);
  return names;
}

}  // namespace gpuadvise::client
