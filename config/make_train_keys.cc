// Writes the tables of common/keys/train_key_table.h from config/train_keys.yaml, when the
// programs are built: make_train_keys train_keys.yaml train_key_table.cc
#include <yaml-cpp/yaml.h>

#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

const std::map<std::string, std::string> kKinds = {
    {"whole", "kWhole"}, {"number", "kNumber"}, {"bool", "kBool"},   {"text", "kText"},
    {"word", "kWord"},   {"switch", "kSwitch"}, {"texts", "kTexts"}, {"size", "kSize"},
    {"map", "kMap"},     {"list", "kList"},     {"other", "kOther"}, {"time_limit", "kTimeLimit"}};
const std::set<std::string> kMembers = {"type", "range", "words",  "form", "unit", "usual",
                                        "most", "also",  "option", "bare", "here", "meaning"};

std::string Literal(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string Literals(const YAML::Node& list) {
  std::string all;
  for (const YAML::Node& each : list) all += Literal(each.as<std::string>()) + ", ";
  return all;
}

// "training." is left out of settings' names: they are what commands and configs are about.
std::string SettingName(const std::string& path) {
  const std::string training = "training.";
  return path.compare(0, training.size(), training) == 0 ? path.substr(training.size()) : path;
}

class Tables {
 public:
  explicit Tables(const YAML::Node& document) : document_(document) {}

  std::string Text() {
    for (const auto& row : document_["keys"]) Key(row.first.as<std::string>(), row.second);
    for (const auto& row : document_["flags"]) Flag(row.first.as<std::string>(), row.second);
    for (const std::string& name : own_names_) {  // after what other rows list
      if (spelled_.insert(name).second) AddSpelling(name, name);
    }
    for (const YAML::Node& row : document_["programs"]) Program(row);
    return "#include \"common/keys/train_key_table.h\"\n\n"
           "namespace gpuadvise::train_key_table {\n\n"
           "std::vector<TrainKey> Keys() {\n  using Kind = ValueKind;\n  return {\n" +
           keys_ + "  };\n}\n\n" + Table("ForeignName", "Spellings", spellings_) +
           Table("Setting", "Settings", settings_) +
           Table("ProgramsName", "ProgramsNames", programs_) +
           Table("ForeignName", "Refused", Pairs(document_["refused"])) +
           Table("ForeignName", "NotCounted", Pairs(document_["not_counted"])) +
           Table("std::string_view", "Ignored", "    " + Literals(document_["ignored"]) + "\n") +
           "}  // namespace gpuadvise::train_key_table\n";
  }

 private:
  static std::string Table(const std::string& type, const std::string& name,
                           const std::string& rows) {
    return "std::span<const " + type + "> " + name + "() {\n  static constexpr " + type +
           " kRows[] = {\n" + rows + "  };\n  return kRows;\n}\n\n";
  }

  static std::string Pairs(const YAML::Node& map) {
    std::string rows;
    for (const auto& row : map) {
      rows += "    {" + Literal(row.first.as<std::string>()) + ", " +
              Literal(row.second.as<std::string>()) + "},\n";
    }
    return rows;
  }

  static void Check(const std::string& path, const YAML::Node& row) {
    if (!row.IsMap()) throw std::runtime_error(path + " is not a map");
    for (const auto& member : row) {
      if (kMembers.count(member.first.as<std::string>()) == 0) {
        throw std::runtime_error(path + ": unknown member " + member.first.as<std::string>());
      }
    }
  }

  void Key(const std::string& path, const YAML::Node& row) {
    if (row.IsScalar()) {  // model.*: stack
      const std::string section = path.substr(0, path.size() - 1);
      for (const auto& each : document_[row.as<std::string>()]) {
        Key(section + each.first.as<std::string>(), each.second);
      }
      return;
    }
    Check(path, row);
    const std::string kind = row["type"] ? row["type"].as<std::string>() : "text";
    keys_ += "    {.path = " + Literal(path) + ", .kind = Kind::" + kKinds.at(kind);
    if (row["range"]) {
      keys_ += ", .low = " + row["range"][0].as<std::string>() +
               ", .high = " + row["range"][1].as<std::string>();
    }
    if (row["words"]) keys_ += ", .words = {" + Literals(row["words"]) + "}";
    for (const char* member : {"form", "unit", "usual"}) AddText(row, member);
    if (row["most"]) keys_ += ", .most = " + row["most"].as<std::string>();
    for (const char* member : {"meaning", "option"}) AddText(row, member);
    keys_ += "},\n";
    const bool of_training = path != SettingName(path) && SettingName(path).find('.') == path.npos;
    const bool takes_value = kind != "bool" && kind != "switch";
    AddSetting(SettingName(path), path, !takes_value || row["bare"], row["bare"].IsDefined());
    AddSpellings(SettingName(path), row["also"]);
    if (of_training && kind != "map" && kind != "list") own_names_.push_back(SettingName(path));
  }

  void AddText(const YAML::Node& row, const char* member) {
    if (!row[member]) return;
    keys_ += std::string(", .") + member + " = " + Literal(row[member].as<std::string>());
  }

  void Flag(const std::string& name, const YAML::Node& row) {
    Check(name, row);
    AddSetting(name, row["here"] ? row["here"].as<std::string>() : "", row["bare"].IsDefined(),
               false);
    AddSpellings(name, row["also"]);
  }

  void AddSetting(const std::string& name, const std::string& here, bool bare, bool any_value) {
    names_.insert(name);
    settings_ += "    {" + Literal(name) + ", " + Literal(here) + ", " + (bare ? "true" : "false") +
                 ", " + (any_value ? "true" : "false") + "},\n";
  }

  void AddSpellings(const std::string& setting, const YAML::Node& names) {
    for (const YAML::Node& node : names) {
      const std::string name = node.as<std::string>();
      if (!spelled_.insert(name).second) throw std::runtime_error(name + " is there twice");
      AddSpelling(name, setting);
    }
  }

  void AddSpelling(const std::string& name, const std::string& setting) {
    spellings_ += "    {" + Literal(name) + ", " + Literal(setting) + "},\n";
  }

  void Program(const YAML::Node& row) {
    const std::string path = row["is"].as<std::string>();
    const std::string setting = path == "none" ? "" : SettingName(path);
    if (!setting.empty() && names_.count(setting) == 0) {
      throw std::runtime_error(path + " is no setting");
    }
    programs_ += "    {" + Literal(row["in"].as<std::string>()) + ", " +
                 Literal(row["name"].as<std::string>()) + ", " + Literal(setting) + "},\n";
  }

  const YAML::Node document_;
  std::set<std::string> names_, spelled_;
  std::vector<std::string> own_names_;
  std::string keys_, settings_, spellings_, programs_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    std::ofstream out(argv[2]);
    out << "// Made from config/train_keys.yaml.\n" << Tables(YAML::LoadFile(argv[1])).Text();
    return out.flush() ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << argv[1] << ": " << error.what() << "\n";
    return 1;
  }
}
