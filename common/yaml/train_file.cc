#include "common/yaml/train_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "common/base/date_time.h"
#include "common/base/json_fields.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr std::string_view kSpecPointer = "/spec";
constexpr const char* kStandardInput = "standard input";

// A root with one of these is not a map of sections.
constexpr std::array<std::string_view, 3> kMarksOfASpec = {"model", "training", "stages"};
// Top-level keys of a train.yaml.
constexpr std::array<std::string_view, 16> kShared = {
    "resources", "requires", "slurm", "objective", "deadline", "output",   "setup",  "container",
    "workdir",   "run_on",   "env",   "command",   "model",    "training", "stages", "inference"};

bool IsShared(std::string_view key) {
  for (std::string_view shared : kShared) {
    if (key == shared) return true;
  }
  return false;
}

bool HasKeys(const json& section) {
  return std::any_of(kShared.begin(), kShared.end(),
                     [&](std::string_view key) { return section.contains(key); });
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

std::string FirstToken(const std::string& pointer) {
  const size_t end = pointer.find('/', 1);
  return pointer.substr(1, end == std::string::npos ? std::string::npos : end - 1);
}

bool NamesAFile(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  return text.ends_with(".json") || text.find('/') != std::string::npos;
}

// Sets the value at `pointer`; does nothing if a parent is not a map, which the reader reports.
// Appends an old value to `replaced`.
void SetIn(json& part, const json::json_pointer& pointer, const json& value,
           std::vector<std::string>& replaced) {
  for (json::json_pointer at = pointer.parent_pointer(); !at.empty(); at = at.parent_pointer()) {
    if (part.contains(at) && !part[at].is_object() && !part[at].is_null()) return;
  }
  if (part.contains(pointer) && part[pointer] != value) {
    replaced.push_back(part[pointer].dump(-1, ' ', false, json::error_handler_t::replace));
  }
  part[pointer] = value;
}

// Whether a stage sets `key` ("training.lora.r"), or a map that hides the file's.
bool SaysItself(const json& stage, const std::string& key) {
  const size_t first = key.find('.');
  const std::string of_file = key.substr(0, key.find('.', first + 1));
  return stage.is_object() &&
         stage.contains(json::json_pointer("/" + ReplaceAll(of_file, ".", "/")));
}

}  // namespace

Result<TrainFile> TrainFile::Load(const std::string& path, const std::string& section,
                                  int64_t now) {
  const bool is_input = path == "-";
  const Result<std::string> text =
      is_input ? ReadStandardInput(kStandardInput) : ReadTextFile(path);
  if (!text) return tl::unexpected<Error>(text.error());
  return FromText(*text, is_input ? kStandardInput : path, section, now);
}

TrainFile TrainFile::FromSpec(json spec, const std::string& name) {
  TrainFile file;
  file.path_ = name;
  file.spec_ = std::move(spec);
  return file;
}

Result<std::vector<std::string>> TrainFile::Override(const std::string& key, const json& value,
                                                     const std::string& by) {
  const json::json_pointer pointer("/" + ReplaceAll(key, ".", "/"));
  std::vector<std::string> replaced;
  SetIn(spec_, pointer, value, replaced);
  options_[pointer.to_string()] = by;
  const auto stages = spec_.find("stages");
  for (size_t i = 0; stages != spec_.end() && stages->is_array() && i < stages->size(); ++i) {
    json& stage = (*stages)[i];
    if (SaysItself(stage, key)) SetIn(stage, pointer, value, replaced);
    options_["/stages/" + std::to_string(i) + pointer.to_string()] = by;
  }
  if (Result<void> done = InlineFiles(ReadBeside); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return replaced;
}

Result<TrainFile> TrainFile::FromText(std::string_view text, const std::string& path,
                                      const std::string& section, int64_t now,
                                      const ReadFile& read) {
  TrainFile file;
  file.path_ = path;
  Result<YamlDocument> document = ParseYaml(text, path);
  if (!document) return tl::unexpected<Error>(document.error());
  file.document_ = *std::move(document);
  Result<void> done = file.TakeSection(section);
  if (done) done = file.InlineFiles(read);
  if (done) done = file.ResolveDeadline(now);
  if (!done) return tl::unexpected<Error>(done.error());
  return file;
}

std::vector<std::string> TrainFile::SectionNames() const {
  std::vector<std::string> names;
  for (const std::string_view mark : kMarksOfASpec) {
    if (document_.root.contains(mark)) return {};
  }
  for (const auto& [key, value] : document_.root.items()) {
    if (value.is_object() && !IsShared(key)) names.push_back(key);
  }
  return names;
}

Result<void> TrainFile::TakeSection(const std::string& section) {
  const std::vector<std::string> names = SectionNames();
  if (section.empty() && names.empty()) {
    spec_ = document_.root;
    return {};
  }
  if (section.empty() && names.size() > 1) {
    return BadInput(path_ + ": has the sections " + JoinNames(names) +
                    "; choose one with --section NAME");
  }
  section_ = section.empty() ? names.front() : section;
  const auto found = document_.root.find(section_);
  if (found == document_.root.end() || !found->is_object()) {
    return BadInput(path_ + ": has no section " + Quoted(section_) +
                    (names.empty() ? "; it is one training file, leave --section out"
                                   : "; it has " + JoinNames(names)));
  }
  spec_ = *found;
  const std::vector<std::string> names_of_keys(kShared.begin(), kShared.end());
  for (const auto& [key, value] : document_.root.items()) {
    if (value.is_object() && !IsShared(key)) {  // a section, or a typing error
      const std::string near = HasKeys(value) ? "" : NearestName(key, names_of_keys);
      if (near.empty()) continue;
      return BadInput(fmt::format("{}: {} is no key and no section; did you mean {}?", path_,
                                  Quoted(key), Quoted(near)));
    }
    if (!spec_.contains(key)) {
      spec_[key] = value;  // the reader refuses what it does not know
    } else if (key != "model" && value.is_object() && spec_[key].is_object()) {
      spec_[key].insert(value.begin(), value.end());  // which keeps what is there
    }
  }
  if (!spec_.contains("name")) spec_["name"] = section_;
  return {};
}

Result<std::string> TrainFile::ReadBeside(const std::string& path) { return ReadTextFile(path); }

Result<void> TrainFile::InlineFiles(const ReadFile& read) {
  if (Result<void> whole = InlineFilesOf(spec_, "", read); !whole) return whole;
  const auto stages = spec_.find("stages");
  if (stages == spec_.end() || !stages->is_array()) return {};
  for (size_t i = 0; i < stages->size(); ++i) {
    const std::string pointer = "/stages/" + std::to_string(i);
    if (Result<void> stage = InlineFilesOf((*stages)[i], pointer, read); !stage) return stage;
  }
  return {};
}

Result<void> TrainFile::InlineFilesOf(json& part, const std::string& pointer,
                                      const ReadFile& read) {
  if (!part.is_object()) return {};
  if (part.contains("model") && part["model"].is_object() && part["model"].contains("hf_config")) {
    Result<void> done = InlineJson(part["model"]["hf_config"], pointer + "/model/hf_config", read);
    if (!done) return done;
  }
  if (part.contains("training") && part["training"].is_object() &&
      part["training"].contains("deepspeed")) {
    return InlineJson(part["training"]["deepspeed"], pointer + "/training/deepspeed", read);
  }
  return {};
}

Result<void> TrainFile::InlineJson(json& value, const std::string& pointer, const ReadFile& read) {
  if (!NamesAFile(value)) return {};
  const auto& name = value.get_ref<const std::string&>();
  const std::string path = name.starts_with('/') ? name : DirectoryOf(path_) + name;
  const Result<std::string> text = read(path);
  if (!text) return Refuse(text.error().message, pointer);
  Result<json> parsed = ParseJsonObject(*text);
  if (!parsed) return Refuse(path + " " + parsed.error().message + "; check the file", pointer);
  // May have tens of thousands of entries, which no estimate uses.
  for (const char* labels : {"id2label", "label2id"}) parsed->erase(labels);
  value = *std::move(parsed);
  return {};
}

Result<void> TrainFile::ResolveDeadline(int64_t now) {
  const auto deadline = spec_.find("deadline");
  if (deadline == spec_.end() || !deadline->is_string()) return {};
  const auto moment =
      ParseDateTime(deadline->get_ref<const std::string&>(), now, DayMeans::kItsEnd);
  if (!moment) return Refuse("deadline " + moment.error().message, "/deadline");
  *deadline = *moment;
  return {};
}

std::string TrainFile::PointerInDocument(const std::string& pointer) const {
  if (section_.empty() || pointer.empty()) return pointer;
  const std::string token = FirstToken(pointer);
  const json& section = document_.root.at(section_);
  const bool shared = !section.contains(token) && document_.root.contains(token);
  return shared ? pointer : PointerTo("", section_) + pointer;
}

std::string TrainFile::Explain(const Error& error) const {
  std::string pointer = error.pointer;
  const bool in_request =
      pointer == kSpecPointer || pointer.starts_with(std::string(kSpecPointer) + "/");
  if (in_request) pointer = pointer.substr(kSpecPointer.size());
  for (const std::string& set : {pointer, pointer.substr(0, pointer.rfind('/'))}) {  // or its list
    const auto option = options_.find(set);
    if (option != options_.end()) return option->second + ": " + error.message;
  }
  if (pointer.empty() && !section_.empty())
    pointer = PointerTo("", section_);
  else
    pointer = PointerInDocument(pointer);
  return Describe({error.code, error.message, pointer}, path_, document_);
}

Error TrainFile::Explained(Error error) const {
  error.message = Explain(error);
  error.pointer.clear();
  for (Error& each : error.further) each = Explained(each);
  return error;
}

tl::unexpected<Error> TrainFile::Refuse(const std::string& message,
                                        const std::string& pointer) const {
  return BadInput(Explain({ErrorCode::kBadInput, message, pointer}));
}

}  // namespace gpuadvise
