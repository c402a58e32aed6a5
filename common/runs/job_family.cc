#include "common/runs/job_family.h"

#include <fmt/format.h>

#include <cstdint>
#include <nlohmann/json.hpp>

namespace gpuadvise {
namespace {

using nlohmann::json;

// FNV-1a of 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/).
uint64_t HashOf(const std::string& text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211u;
  }
  return hash;
}

bool IsOnlyAMemoryLine(const json& model) {
  if (!model.is_object() || !model.contains("memory")) return false;
  return !model.contains("preset") && !model.contains("hf_config") &&
         !model.contains("hidden_size");
}

}  // namespace

std::string JobFamilyOf(const json& spec) {
  if (!spec.is_object() || spec.contains("stages")) return "";
  json training = spec.value("training", json::object());
  if (!training.is_object() || !spec.contains("model")) return "";
  for (const char* key :
       {"max_steps", "num_train_epochs", "num_samples", "samples", "effective_batch_size",
        "per_device_train_batch_size", "per_device_eval_batch_size", "gradient_accumulation_steps",
        "measured", "retry_on_oom", "resume"}) {
    training.erase(key);
  }
  json alike = {{"model", spec.at("model")}, {"training", std::move(training)}};
  if (IsOnlyAMemoryLine(spec.at("model"))) alike["name"] = spec.value("name", json());
  return fmt::format("{:016x}", HashOf(alike.dump(-1, ' ', false, json::error_handler_t::replace)));
}

}  // namespace gpuadvise
