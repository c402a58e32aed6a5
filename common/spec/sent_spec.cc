#include "common/spec/sent_spec.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "common/keys/train_keys.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

// Used by the client alone.
bool IsPrivate(std::string_view path) {
  for (const std::string_view own :
       {"command", "setup", "env", "workdir", "container", "slurm.extra", "output.dir"}) {
    if (path == own) return true;
  }
  return false;
}

bool IsText(const json& value) { return value.is_string() || value.is_number(); }

// Whether the reader takes `value` for `key`, so that nothing is missed without it.
bool IsTaken(const TrainKey& key, const json& value) {
  if (key.kind == ValueKind::kOther || value.is_null() || IsText(value)) return true;
  return key.kind == ValueKind::kTexts && value.is_array() &&
         std::all_of(value.begin(), value.end(), IsText);
}

// The kind of a value, and of the items of a list.
json Blank(const json& value) {
  if (value.is_object()) return json::object();
  if (value.is_string()) return "";
  if (value.is_boolean()) return value;
  if (value.is_number()) return 0;
  if (!value.is_array()) return nullptr;
  json blank = json::array();
  for (const json& item : value) blank.push_back(Blank(item));
  return blank;
}

json SentSection(const json& section, const std::string& prefix) {
  if (!section.is_object()) return Blank(section);
  json sent = json::object();
  for (const auto& [name, value] : section.items()) {
    const TrainKey* key = FindTrainKey(prefix + name);
    if (key != nullptr && !IsPrivate(key->path)) {
      sent[name] = value;
    } else if (key == nullptr || !IsTaken(*key, value)) {
      sent[name] = Blank(value);
    }
  }
  return sent;
}

// That it can resume counts, the words for it do not.
void TakeOutResumeWords(json& holder) {
  if (!holder.is_object()) return;
  const auto training = holder.find("training");
  if (training == holder.end() || !training->is_object()) return;
  const auto resume = training->find("resume");
  if (resume != training->end() && resume->is_string()) *resume = *resume != "false";
}

}  // namespace

json SentSpec(const json& spec) {
  json sent = SentSection(spec, "");
  if (!sent.is_object()) return sent;
  for (const char* section : {"slurm", "output"}) {
    if (const auto found = sent.find(section); found != sent.end()) {
      *found = SentSection(*found, std::string(section) + ".");
    }
  }
  TakeOutResumeWords(sent);
  if (const auto stages = sent.find("stages"); stages != sent.end() && stages->is_array()) {
    for (json& stage : *stages) TakeOutResumeWords(stage);
  }
  return sent;
}

json SentRequest(const json& request) {
  if (!request.is_object()) return nullptr;
  json sent = json::object();
  const auto take = [](const json& from, const char* name, json& into) {
    if (const auto found = from.find(name); found != from.end()) into[name] = *found;
  };
  for (const char* name : {"objective", "deadline"}) take(request, name, sent);
  if (const auto spec = request.find("spec"); spec != request.end()) sent["spec"] = SentSpec(*spec);
  const auto constraints = request.find("constraints");
  if (constraints == request.end() || !constraints->is_object()) return sent;
  sent["constraints"] = json::object();
  for (const char* name : {"partition", "account", "qos", "constraint", "exclude", "nodelist",
                           "time_limit_seconds", "gpus_per_node", "nodes", "gpus"}) {
    take(*constraints, name, sent["constraints"]);
  }
  return sent;
}

}  // namespace gpuadvise
