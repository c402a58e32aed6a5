#include "daemon/api/answer_cache.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace gpuadvise::daemon {
namespace {

bool Same(const Freshness& a, const Freshness& b) {
  return a.age_seconds == b.age_seconds && a.cause == b.cause && a.passed_over == b.passed_over;
}

}  // namespace

Result<FramedAnswer> AnswerCache::Get(const std::shared_ptr<const DaemonState>& state,
                                      const Freshness& freshness, const std::string& request,
                                      const Make& make) {
  const std::lock_guard lock(mutex_);
  if (state_.lock() != state) {
    state_ = state;
    answers_.clear();
    bytes_ = 0;
  }
  const auto known = answers_.find(request);
  if (known != answers_.end()) {
    Answer& answer = known->second;
    answer.asked = ++count_;
    if (!Same(answer.freshness, freshness)) {
      bytes_ -= BytesOf(request, answer);
      answer.framed = Reframed(answer.framed, state.get(), freshness);
      answer.freshness = freshness;
      bytes_ += BytesOf(request, answer);
    }
    return answer.framed;
  }
  Result<nlohmann::json> made = make();
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  FramedAnswer framed = FramedText(std::move(*made), state.get(), freshness);
  Keep(request, {framed, freshness, ++count_});
  return framed;
}

std::shared_ptr<const void> AnswerCache::TakeFile() {
  const std::lock_guard lock(mutex_);
  for (std::weak_ptr<const void>& file : files_) {
    if (!file.expired()) continue;
    auto place = std::make_shared<const char>();
    file = place;
    return place;
  }
  return nullptr;
}

// What an answer takes in all.
size_t AnswerCache::BytesOf(const std::string& request, const Answer& answer) {
  constexpr size_t kNode = 256;  // of the map, with the text's own head and the freshness
  return kNode + request.size() + answer.framed.text->size();
}

void AnswerCache::Keep(const std::string& request, Answer answer) {
  bytes_ += BytesOf(request, answer);
  answers_.emplace(request, std::move(answer));
  while (!answers_.empty() && (bytes_ > kMostBytes || answers_.size() > kMostAnswers)) {
    const auto oldest = std::min_element(
        answers_.begin(), answers_.end(),
        [](const auto& a, const auto& b) { return a.second.asked < b.second.asked; });
    bytes_ -= BytesOf(oldest->first, oldest->second);
    answers_.erase(oldest);
  }
}

}  // namespace gpuadvise::daemon
