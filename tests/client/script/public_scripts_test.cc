// Launch scripts as public projects write them, each with what a person reads in it
// (tests/client/data/scripts/README.md). Says in figures how much of that is read, and holds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "client/script/script_file.h"
#include "common/base/text.h"
#include "common/yaml/yaml_file.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

std::string Folder() {
  const char* other = std::getenv("GPUADVISE_SCRIPTS");
  return other != nullptr ? other : std::string(GPUADVISE_TEST_DIR) + "/data/scripts";
}

std::vector<std::string> Names() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(Folder())) {
    if (entry.path().extension() == ".sh") names.push_back(entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

struct Score {
  int points = 0;
  int right = 0;
  std::vector<std::string> wrong;
};

// One script's table against its train.yaml.
class Comparison {
 public:
  explicit Comparison(const std::string& name)
      : table_(json::parse(ReadTextFile(Folder() + "/" + name + ".json").value_or("{}"))),
        reads_(table_.value("reads", json::object())),
        missed_(table_.value("missed", std::map<std::string, json>())),
        converted_(ConvertScriptFile(Folder() + "/" + name + ".sh", {})) {
    if (converted_) yaml_ = ParseYaml(converted_->yaml, "train.yaml").value().root;
  }

  // What is known to be missed is no surprise, but has to be missed.
  Score Run() {
    Compare();
    const json known = table_.value("missed", json::object());
    std::erase_if(score_.wrong, [&](const std::string& wrong) {
      return known.contains(wrong.substr(0, wrong.find(": ")));
    });
    for (const auto& [what, why] : missed_) score_.wrong.push_back(what + ": is right now");
    return score_;
  }

 private:
  void Compare() {
    if (reads_.empty()) {
      return Count("refused", !converted_ || !converted_->report.missing.empty(),
                   "taken as complete");
    }
    if (!converted_) {
      const bool several = table_.value("several_trainings", 1) > 1;
      return Count("converted", several, converted_.error().message);
    }
    CompareBatch();
    CompareTraining();
    ComparePlaceholders();
    CompareSlurm();
  }

  void Count(const std::string& what, bool right, const std::string& got) {
    ++score_.points;
    score_.right += right ? 1 : 0;
    if (!right) score_.wrong.push_back(what + ": " + got);
    if (!right) missed_.erase(what);
  }

  json Read(const char* key) const {
    const auto found = reads_.find(key);
    return found == reads_.end() ? json() : *found;
  }
  // Whether a further answer is right, too.
  bool Accepts(const std::string& key, const json& got) const {
    const json& others = table_.value("acceptable", json::object());
    if (!others.contains(key)) return false;
    const json& other = others[key];
    if (other == got) return true;
    return other.is_array() && std::find(other.begin(), other.end(), got) != other.end();
  }

  void Same(const char* key, const json& got) {
    const json expected = Read(key);
    if (expected.is_null()) return;
    bool same = expected == got;
    if (expected.is_number() && got.is_number()) same = expected.get<double>() == got.get<double>();
    Count(std::string(key) + " " + expected.dump(), same || Accepts(key, got), got.dump());
  }

  json Training(const char* key) const {
    const json training = yaml_.value("training", json::object());
    return training.is_object() ? training.value(key, json()) : json();
  }

  // What the script's batch makes in all; null where its table does not say all of it.
  json WholeBatch() const {
    if (reads_.contains("global_batch")) return Read("global_batch");
    const json micro = Read("micro_batch");
    if (!micro.is_number()) return json();
    int64_t gpus = 0;
    if (Read("gpus_per_node").is_number()) {
      gpus = Read("gpus_per_node").get<int64_t>() *
             (Read("nodes").is_number() ? Read("nodes").get<int64_t>() : 1);
    } else if (Read("gpus").is_number()) {
      gpus = Read("gpus").get<int64_t>();
    }
    if (gpus == 0) return json();
    const json accumulation = Read("accumulation");
    return micro.get<int64_t>() * gpus *
           (accumulation.is_number() ? accumulation.get<int64_t>() : 1);
  }

  void CompareBatch() {
    const json whole = WholeBatch();
    if (!whole.is_null()) {
      Count("effective batch " + whole.dump(), Training("effective_batch_size") == whole,
            Training("effective_batch_size").dump());
    }
    Same("eval_batch", Training("per_device_eval_batch_size"));
    Same("nodes", yaml_["resources"].value("max_nodes", json()));
  }

  json Precision() const {
    if (Training("bf16") == true) return "bf16";
    if (Training("fp16") == true) return "fp16";
    return Training("bf16") == false ? json("fp32") : json();
  }

  void CompareTraining() {
    Same("max_steps", Training("max_steps"));
    if (!reads_.contains("max_steps")) Same("epochs", Training("num_train_epochs"));
    Same("seq_length", Training("max_seq_length"));
    Same("precision", Precision());
    Same("gradient_checkpointing", Training("gradient_checkpointing"));
    Same("method", Training("method"));
    const json lora = Training("lora").is_object() ? Training("lora") : json::object();
    Same("lora_r", lora.value("r", json()));
    Same("lora_alpha", lora.value("lora_alpha", json()));
    Same("zero_stage", Training("deepspeed"));
    Same("workers", Training("dataloader_num_workers"));
    Same("compile", Training("torch_compile"));
    Same("tf32", Training("tf32"));
    if (Read("attn") != "eager") Same("attn", Training("attn_implementation"));
    const json model = Read("model");
    if (model.is_string()) {
      const json report = {converted_->report.taken, converted_->report.missing};
      Count("model " + model.dump(),
            report.dump().find(json(model).dump().substr(1, model.dump().size() - 2)) !=
                    std::string::npos ||
                Accepts("model", json()),
            "not named");
    }
    const json fsdp = Read("fsdp");
    if (fsdp.is_string() &&
        LowerCase(fsdp.get<std::string>()).find("full_shard") != std::string::npos) {
      const bool offloads = fsdp.get<std::string>().find("offload") != std::string::npos;
      Count("fsdp", Training("fsdp") == (offloads ? "full_shard offload" : "full_shard"),
            Training("fsdp").dump());
    }
  }

  void ComparePlaceholders() {
    std::string text = yaml_.value("command", "");
    for (const json& line : yaml_.value("setup", json::array())) {
      if (line.is_string()) text += "\n" + line.get<std::string>();
    }
    for (const json& word : table_.value("must_become_placeholders", json::array())) {
      const std::string name = word.get<std::string>();
      bool there = text.find("{" + name + "}") != std::string::npos;
      if (name == "micro_batch" && reads_.contains("global_batch") &&
          !reads_.contains("micro_batch")) {
        there = text.find("{effective_batch_size}") != std::string::npos;
      }
      if (name == "gpus_per_node" || name == "gpus") {
        there = text.find("{gpus") != std::string::npos ||
                (table_.contains("gpus_said_by_visible_devices") &&
                 text.find("CUDA_VISIBLE_DEVICES") == std::string::npos);
      }
      Count("{" + name + "}", there, text);
    }
  }

  void CompareSlurm() {
    const json slurm = yaml_.value("slurm", json::object());
    const json asked = Read("sbatch");
    for (const auto& [name, value] : asked.items()) {
      if (IsOneOf(name, {"gres", "gpus", "gpus-per-node", "gpus-per-task", "nodes", "ntasks",
                         "ntasks-per-node", "cpus-per-task", "cpus-per-gpu", "mem", "mem-per-gpu",
                         "mem-per-cpu", "job-name", "tasks-per-node"})) {
        continue;
      }
      const bool there =
          slurm.contains(name) ||
          slurm.value("extra", json::array()).dump().find("--" + name) != std::string::npos;
      Count("#SBATCH --" + name, there, slurm.dump());
    }
  }

  json table_, reads_;
  std::map<std::string, json> missed_;  // known misses that were not seen
  Result<ConvertedScript> converted_;
  json yaml_;
  Score score_;
};

TEST(PublicScripts, AreReadAsAPersonReadsThem) {
  Score all;
  int whole = 0;
  const std::vector<std::string> names = Names();
  for (const std::string& name : names) {
    const Score score = Comparison(name).Run();
    all.points += score.points;
    all.right += score.right;
    whole += score.right == score.points ? 1 : 0;
    for (const std::string& wrong : score.wrong) {
      all.wrong.push_back(name + ": " + wrong.substr(0, 300));
    }
  }
  std::cout << names.size() << " scripts, " << whole << " wholly right; " << all.right << " of "
            << all.points << " points right\n";
  for (const std::string& wrong : all.wrong) std::cout << "  " << wrong << "\n";
  EXPECT_TRUE(all.wrong.empty());
}

}  // namespace
}  // namespace gpuadvise::client
