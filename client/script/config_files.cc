#include "client/script/config_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "client/script/launch_program.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"
#include "common/yaml/yaml_document.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

constexpr int kMostNestedFiles = 8;  // that bring each other in
constexpr int kMostFiles = 200;      // read for one command
constexpr int kMostHops = 5;         // of values that name another value

// Names under which a file of settings names those that it extends.
constexpr std::array<const char*, 6> kBases = {"_base_",   "_BASE_",  "__base__",
                                               "_extends", "extends", "base_config"};

bool IsConfigName(std::string_view path) {
  return path.ends_with(".yaml") || path.ends_with(".yml") || path.ends_with(".json");
}

std::string Normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

std::string FolderOfFile(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// What a command says to Hydra.
struct HydraUse {
  struct Choice {
    std::string group;  // "trainer"
    std::string name;   // "ddp"; "": not known
    size_t word = 0;
    bool is_added = false;  // +experiment=x
    bool is_used = false;
  };
  bool certain = false;
  std::string primary;
  std::string folder;  // where the program or the command says; "": not said
  std::vector<std::string> folders;
  std::vector<Choice> choices;
};

// The text in quotes behind `name`= in the arguments of hydra.main; "": none.
std::string ArgumentOfMain(std::string_view arguments, std::string_view name) {
  const size_t at = arguments.find(std::string(name) + "=");
  if (at == std::string_view::npos) return {};
  const size_t begin = at + name.size() + 2;
  const char quote = begin <= arguments.size() ? arguments[begin - 1] : '\0';
  if (quote != '"' && quote != '\'') return {};
  return std::string(arguments.substr(begin, arguments.find(quote, begin) - begin));
}

class HydraReader {
 public:
  HydraReader(const LaunchCommand& command, const ReadNamedFile& read)
      : command_(command), read_(read) {}

  HydraUse Read() {
    const Launcher launcher = command_.launcher;
    const bool runs_python = launcher == Launcher::kPython || launcher == Launcher::kTorchrun ||
                             launcher == Launcher::kAccelerate ||
                             launcher == Launcher::kDeepspeed || launcher == Launcher::kMpi;
    if (!runs_python || ProgramOf(command_).empty()) return {};
    std::string program = ProgramOf(command_);
    if (command_.is_module) program = ReplaceAll(program, ".", "/") + ".py";
    const std::string folder = FolderOfFile(program);
    ReadProgram(program, folder);
    ReadWords(folder);
    for (const char* name : {"conf", "config", "configs", "hydra_configs"}) {
      AddFolder(PathBeside(folder, name));
      AddFolder(name);
      AddFolder(PathBeside(folder, std::string("../") + name));
    }
    return std::move(use_);
  }

 private:
  void AddFolder(const std::string& folder) {
    const std::string normal = Normal(folder);
    if (!IsOneOf(normal, use_.folders)) use_.folders.push_back(normal);
  }

  // @hydra.main(config_path="../configs", config_name="train")
  void ReadProgram(const std::string& program, const std::string& folder) {
    const std::optional<std::string> text = read_(program);
    if (!text) return;
    const size_t at = text->find("hydra.main(");
    if (at == std::string::npos) return;
    use_.certain = true;
    const std::string_view rest = std::string_view(*text).substr(at);
    const std::string_view arguments = rest.substr(0, rest.find(')'));
    use_.primary = ArgumentOfMain(arguments, "config_name");
    const std::string path = ArgumentOfMain(arguments, "config_path");
    if (path.empty()) return;
    use_.folder = Normal(PathBeside(folder, path));
    AddFolder(use_.folder);
  }

  void ReadWords(const std::string& folder) {
    for (size_t at = command_.program_at + 1; at < command_.words.size(); ++at) {
      const LaunchWord& word = command_.words[at];
      const std::string text = word.value.value_or(word.raw);
      const size_t equals = text.find('=');
      if (text.starts_with('-')) {
        const std::string option = text.substr(0, equals);
        const bool is_path = IsOneOf(option, {"--config-path", "-cp", "--config-dir", "-cd"});
        if (!is_path && !IsOneOf(option, {"--config-name", "-cn"})) continue;
        use_.certain = true;
        std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
        if (equals == std::string::npos && at + 1 < command_.words.size()) {
          const LaunchWord& next = command_.words[++at];
          value = next.value.value_or(next.raw);
        }
        if (!is_path) use_.primary = value;
        if (is_path) {
          const bool of_program = IsOneOf(option, {"--config-path", "-cp"});
          use_.folder = Normal(of_program ? PathBeside(folder, value) : value);
          use_.folders.insert(use_.folders.begin(), use_.folder);
        }
      } else if (equals != std::string::npos && equals > 0) {
        ReadChoice(text, equals, word.value.has_value(), at);
      }
    }
  }

  void ReadChoice(const std::string& text, size_t equals, bool known, size_t at) {
    HydraUse::Choice choice;
    choice.group = text.substr(0, equals);
    while (choice.group.starts_with('+')) choice.group.erase(0, 1);
    choice.is_added = choice.group.size() < equals;
    choice.group = choice.group.substr(0, choice.group.find('@'));
    choice.word = at;
    const auto is_part = [](char c) { return IsNamePart(c) || c == '/'; };
    if (choice.group.empty() || IsDigit(choice.group[0]) ||
        !std::all_of(choice.group.begin(), choice.group.end(), is_part)) {
      return;
    }
    if (known) {
      choice.name = text.substr(equals + 1);
      const auto is_name = [](char c) { return IsNamePart(c) || c == '/' || c == '-'; };
      const std::string lower = LowerCase(choice.name);
      const bool plain = lower.empty() || !(IsNamePart(lower[0]) && !IsDigit(lower[0])) ||
                         IsOneOf(lower, {"true", "false", "null", "none"}) ||
                         !std::all_of(lower.begin(), lower.end(), is_name);
      if (plain) return;
    }
    use_.choices.push_back(std::move(choice));
  }

  const LaunchCommand& command_;
  const ReadNamedFile& read_;
  HydraUse use_;
};

// Merges the files, weakest first.
class Composer {
 public:
  Composer(HydraUse use, const ReadNamedFile& read, ConfigFiles& files)
      : use_(std::move(use)), read_(read), files_(files) {}

  // `path`: of the command's own file, which is readable.
  void AddPrimary(const std::string& path) {
    root_ = FolderOfFile(path);
    for (HydraUse::Choice& choice : use_.choices) choice.is_used = false;
    CollectOverrides(path, "", 0);
    Add(path, "", "", 0);
  }

  // Groups that no file's `defaults:` has: +experiment=x, or all of them without such a file.
  void AddChoices(bool has_primary) {
    for (HydraUse::Choice& choice : use_.choices) {
      if (choice.is_used) continue;
      if (!has_primary) root_.clear();
      const std::optional<std::string> path = FileOfGroup(choice.group, choice.name);
      if (path) {
        files_.takes_overrides = true;
        files_.choices.insert(choice.word);
        Add(*path, choice.group, ReplaceAll(choice.group, "/", "."), 0);
      } else if (files_.path.empty() ? MayBeGroup(choice.group) || use_.certain : choice.is_added) {
        Miss(NameOf(choice.group, choice.name));
      }
    }
  }

  void ResolveNames() { Resolve(files_.merged); }

 private:
  // Without a sign of Hydra: "mode=train" is a value, "trainer=ddp" may name a file.
  static bool MayBeGroup(const std::string& group) {
    return IsOneOf(LowerCase(group), {"trainer", "training", "train", "experiment", "exp", "recipe",
                                      "data", "dataset", "datamodule", "model"});
  }

  static std::string NameOf(const std::string& group, const std::string& name) {
    return group + "/" + (name.empty() ? "*" : name) + (IsConfigName(name) ? "" : ".yaml");
  }

  void Miss(const std::string& name) {
    if (!IsOneOf(name, files_.unread)) files_.unread.push_back(name);
  }

  std::optional<json> Read(const std::string& path) {
    if (++read_count_ > kMostFiles) return {};
    const std::optional<std::string> text = read_(path);
    if (!text) return {};
    const size_t package = text->find("@package ");
    packages_[path].clear();
    if (package != std::string::npos && text->find('\n') > package) {
      const std::string_view rest = std::string_view(*text).substr(package + 9);
      packages_[path] = std::string(Trim(rest.substr(0, rest.find('\n'))));
    }
    return ParseConfig(*text, path);
  }

  // The readable path of a name without its extension; nullopt: none.
  std::optional<std::string> Readable(const std::string& path) {
    for (const char* end : {"", ".yaml", ".yml"}) {
      const std::string whole = Normal(path + end);
      if (IsConfigName(whole) && Read(whole)) return whole;
    }
    return {};
  }

  std::optional<std::string> FileOfGroup(const std::string& group, const std::string& name) {
    if (name.empty()) return {};
    std::vector<std::string> folders = use_.folders;
    if (!root_.empty()) folders.insert(folders.begin(), root_);
    for (const std::string& folder : folders) {
      if (auto path = Readable(folder + "/" + group + "/" + name)) return path;
    }
    return {};
  }

  struct Entry {
    bool is_self = false;
    bool is_optional = false;
    bool overrides = false;
    bool has_group = false;
    std::string group;    // absolute, "trainer"
    std::string package;  // that the entry gives itself; "": its group
    std::vector<std::string> names;
  };

  // An entry of `defaults:` in a file of group `own`.
  static std::optional<Entry> EntryOf(const json& item, const std::string& own) {
    Entry entry;
    if (item.is_string()) {
      entry.is_self = item == "_self_";
      entry.group = own;
      entry.names = {item.get<std::string>()};
      return entry;
    }
    if (!item.is_object() || item.size() != 1) return {};
    std::string key = item.begin().key();
    for (const auto& [word, flag] :
         {std::pair{"optional ", &entry.is_optional}, std::pair{"override ", &entry.overrides},
          std::pair{"optional ", &entry.is_optional}}) {
      if (!key.starts_with(word)) continue;
      *flag = true;
      key = Trim(key.substr(9));
    }
    if (const size_t at = key.find('@'); at != std::string::npos) {
      entry.package = key.substr(at + 1);
      key = key.substr(0, at);
    }
    const bool absolute = key.starts_with('/');
    entry.group = absolute || own.empty() ? key.substr(absolute ? 1 : 0) : own + "/" + key;
    entry.has_group = true;
    const json& value = item.begin().value();
    for (const json& name : value.is_array() ? value : json::array({value})) {
      if (name.is_string() && name != "null") entry.names.push_back(name.get<std::string>());
    }
    if (entry.group.starts_with("hydra")) return {};
    return entry;
  }

  static std::vector<Entry> EntriesOf(const json& document, const std::string& own) {
    std::vector<Entry> entries;
    const auto found = document.find("defaults");
    if (found == document.end() || !found->is_array()) return entries;
    for (const json& item : *found) {
      if (auto entry = EntryOf(item, own)) entries.push_back(std::move(*entry));
    }
    return entries;
  }

  // The command's choice, else that of an `override` in a file.
  void Choose(Entry& entry) {
    for (HydraUse::Choice& choice : use_.choices) {
      if (choice.group != entry.group) continue;
      choice.is_used = true;
      files_.choices.insert(choice.word);
      entry.names = {choice.name};
      return;
    }
    const auto found = overrides_.find(entry.group);
    if (found != overrides_.end()) entry.names = found->second;
  }

  std::optional<std::string> FileOf(const Entry& entry, const std::string& name,
                                    const std::string& beside) {
    if (name.empty() || name == "???" || name.find("${") != std::string::npos) return {};
    if (entry.has_group) return FileOfGroup(entry.group, name);
    if (auto path = Readable(PathBeside(FolderOfFile(beside), name))) return path;
    return FileOfGroup(entry.group, name);
  }

  void CollectOverrides(const std::string& path, const std::string& group, int depth) {
    const std::optional<json> document = depth < kMostNestedFiles ? Read(path) : std::nullopt;
    if (!document) return;
    std::vector<Entry> entries = EntriesOf(*document, group);
    for (const Entry& entry : entries) {
      if (entry.overrides) overrides_[entry.group] = entry.names;
    }
    for (Entry& entry : entries) {
      if (entry.is_self || entry.overrides) continue;
      if (entry.has_group) Choose(entry);
      for (const std::string& name : entry.names) {
        if (const auto file = FileOf(entry, name, path)) {
          CollectOverrides(*file, entry.group, depth + 1);
        }
      }
    }
    if (depth > 0) return;
    for (const HydraUse::Choice& choice : use_.choices) {
      if (choice.is_used) continue;
      if (const auto file = FileOfGroup(choice.group, choice.name)) {
        CollectOverrides(*file, choice.group, 1);
      }
    }
  }

  // `package`: where the file's keys go.
  void Add(const std::string& path, const std::string& group, std::string package, int depth) {
    std::optional<json> document = depth < kMostNestedFiles ? Read(path) : std::nullopt;
    if (!document) return;
    const std::string said = packages_[path];
    if (said == "_global_") {
      package.clear();
    } else if (!said.empty() && said != "_group_") {
      package = said;
    }
    AddBases(*document, path, package, depth);
    bool is_merged = false;
    for (Entry& entry : EntriesOf(*document, group)) {
      if (entry.is_self) {
        Merge(*document, package, path);
        is_merged = true;
      } else if (!entry.overrides) {
        AddEntry(entry, path, package, depth);
      }
    }
    if (!is_merged) Merge(*document, package, path);
  }

  void AddEntry(Entry& entry, const std::string& path, const std::string& package, int depth) {
    if (entry.has_group) Choose(entry);
    for (const std::string& name : entry.names) {
      const std::optional<std::string> file = FileOf(entry, name, path);
      if (!file) {
        if (!entry.is_optional) Miss(entry.group.empty() ? name : NameOf(entry.group, name));
        continue;
      }
      std::string inner = package;
      if (entry.has_group) inner = ReplaceAll(entry.group, "/", ".");
      if (entry.package == "_global_") {
        inner.clear();
      } else if (entry.package == "_here_") {
        inner = package;
      } else if (!entry.package.empty()) {
        inner = (package.empty() ? "" : package + ".") + entry.package;
      }
      Add(*file, entry.has_group ? entry.group : "", inner, depth + 1);
    }
  }

  void AddBases(const json& document, const std::string& path, const std::string& package,
                int depth) {
    for (const char* key : kBases) {
      const auto found = document.find(key);
      if (found == document.end()) continue;
      for (const json& base : found->is_array() ? *found : json::array({*found})) {
        if (!base.is_string()) continue;
        const std::string name = base.get<std::string>();
        std::optional<std::string> file = Readable(PathBeside(FolderOfFile(path), name));
        if (!file) file = Readable(name);
        if (file) Add(*file, "", package, depth + 1);
        if (!file && IsConfigName(name)) Miss(name);
      }
    }
  }

  void Merge(json& document, const std::string& package, const std::string& path) {
    document.erase("defaults");
    json* target = &files_.merged;
    for (const std::string_view part : SplitAt(package, '.')) {
      if (package.empty()) break;
      json& inner = (*target)[std::string(part)];
      if (!inner.is_object()) inner = json::object();
      target = &inner;
    }
    MergeInto(*target, document, package.empty() ? "" : package + ".", path);
  }

  void MergeInto(json& target, const json& source, const std::string& prefix,
                 const std::string& path) {
    for (const auto& [key, value] : source.items()) {
      json& kept = target[key];
      if (value.is_object()) {
        if (!kept.is_object()) kept = json::object();
        MergeInto(kept, value, prefix + key + ".", path);
      } else {
        kept = value;
        files_.file_of[prefix + key] = path;
      }
    }
  }

  // Replaces "${data.batch_size}" by that value.
  void Resolve(json& value) {
    if (value.is_structured()) {
      for (json& inner : value) Resolve(inner);
      return;
    }
    for (int hop = 0; hop < kMostHops && value.is_string(); ++hop) {
      const std::string text = value.get<std::string>();
      if (!text.starts_with("${") || text.find('}') != text.size() - 1) return;
      const json* named = &files_.merged;
      for (const std::string_view part :
           SplitAt(std::string_view(text).substr(2, text.size() - 3), '.')) {
        const auto found = named->is_object() ? named->find(std::string(part)) : named->end();
        if (!named->is_object() || found == named->end()) return;
        named = &*found;
      }
      if (named->is_structured() || named->is_null()) return;
      value = json(*named);
    }
  }

  HydraUse use_;
  const ReadNamedFile& read_;
  ConfigFiles& files_;
  std::string root_;  // the primary file's folder, which groups stand in
  std::map<std::string, std::vector<std::string>> overrides_;
  std::map<std::string, std::string> packages_;  // by path: its "# @package"
  int read_count_ = 0;
};

}  // namespace

std::optional<json> ParseConfig(const std::string& text, const std::string& path) {
  if (path.ends_with(".json")) {
    json read = json::parse(text, nullptr, false, true);
    return read.is_object() ? std::optional(std::move(read)) : std::nullopt;
  }
  const Result<YamlDocument> document = ParseYaml(text, path, YamlRules::kOfOthers);
  return document ? std::optional(document->root) : std::nullopt;
}

ConfigFiles ReadConfigFiles(const LaunchCommand& command, const std::string& named,
                            const ReadNamedFile& read) {
  ConfigFiles files;
  HydraUse use = HydraReader(command, read).Read();
  files.takes_overrides = use.certain;
  files.path = use.primary.empty() ? named : use.primary;
  std::vector<std::string> places = {files.path};
  for (const std::string& folder : use.folders) {
    for (const char* end : {"", ".yaml", ".yml"}) {
      places.push_back(Normal(PathBeside(folder, files.path + end)));
    }
  }
  const std::string expected =
      use.folder.empty() || files.path.empty()
          ? files.path
          : PathBeside(use.folder, files.path) + (IsConfigName(files.path) ? "" : ".yaml");
  Composer composer(std::move(use), read, files);
  for (const std::string& place : places) {
    const std::optional<std::string> text = files.path.empty() ? std::nullopt : read(place);
    if (!text || !ParseConfig(*text, place)) continue;
    files.path = place;
    files.is_read = true;
    composer.AddPrimary(place);
    break;
  }
  if (!files.is_read) files.path = expected;
  if (!files.path.empty() && !files.is_read) files.unread.push_back(files.path);
  composer.AddChoices(files.is_read);
  composer.ResolveNames();
  return files;
}

}  // namespace gpuadvise::client
