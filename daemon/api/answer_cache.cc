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

Result<SharedText> AnswerCache::Get(const std::shared_ptr<const DaemonState>& state,
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
    return answer.framed.text;
  }
  Result<nlohmann::json> made = make();
  if (!made) return tl::unexpected<Error>(std::move(made.error()));
  Answer answer{FramedText(Text(*made), state.get(), freshness), freshness, ++count_};
  SharedText text = answer.framed.text;
  Keep(request, std::move(answer));
  return text;
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
