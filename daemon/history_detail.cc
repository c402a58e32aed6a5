#include "daemon/history_detail.h"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/snapshot_json.h"
#include "common/wait_features.h"

namespace gpuadvise {
namespace {

using nlohmann::json;

constexpr size_t kMostNumbers = 4'096;  // in one list

json ToJson(const WaitLesson& lesson) {
  json experts = json::array();
  for (const auto& expert : lesson.experts) experts.push_back(expert);
  return {{"group", static_cast<int>(lesson.group)},
          {"experts", std::move(experts)},
          {"features", lesson.features},
          {"pooled", lesson.pooled},
          {"p90", lesson.p90},
          {"keys", lesson.keys},
          {"forest", lesson.forest_ready}};
}

/// Throws nlohmann's exceptions on what is not of the expected kind.
WaitLesson LessonFrom(const json& value) {
  WaitLesson lesson;
  const int group = value.at("group").get<int>();
  if (group < 0 || group > 2) throw std::out_of_range("group");
  lesson.group = static_cast<WaitGroup>(group);
  const json& experts = value.at("experts");
  for (size_t k = 0; k < kExperts; ++k) experts.at(k).get_to(lesson.experts[k]);
  value.at("features").get_to(lesson.features);
  value.at("pooled").get_to(lesson.pooled);
  value.at("p90").get_to(lesson.p90);
  value.at("keys").get_to(lesson.keys);
  value.at("forest").get_to(lesson.forest_ready);
  if (lesson.pooled.empty() || lesson.pooled.size() > kMostNumbers ||
      lesson.features.size() != kWaitFeatures) {
    throw std::out_of_range("lists");
  }
  return lesson;
}

}  // namespace

std::vector<uint8_t> EncodeDetail(const PastJob& job) {
  if (!job.submission && !job.lesson) return {};
  json detail = json::object();
  if (job.submission) detail["job"] = ToJson(*job.submission);
  if (job.lesson) detail["lesson"] = ToJson(*job.lesson);
  return json::to_cbor(detail);
}

bool DecodeDetail(std::span<const uint8_t> bytes, PastJob& job) {
  if (bytes.empty()) return true;
  try {
    const json detail = json::from_cbor(bytes.begin(), bytes.end());
    std::shared_ptr<const Job> submission;
    std::shared_ptr<const WaitLesson> lesson;
    if (detail.contains("job")) {
      auto read = FromJson<Job>(detail["job"]);
      if (!read) return false;
      submission = std::make_shared<const Job>(std::move(*read));
    }
    if (detail.contains("lesson")) {
      lesson = std::make_shared<const WaitLesson>(LessonFrom(detail["lesson"]));
    }
    job.submission = std::move(submission);
    job.lesson = std::move(lesson);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace gpuadvise
