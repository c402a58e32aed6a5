// So many at once, and so many of one caller: what everybody shares and nobody may hold alone.
// Used on one thread, also a Place, which may outlive whoever made the Places.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

namespace gpuadvise::daemon {

class Places : public std::enable_shared_from_this<Places> {
 public:
  static std::shared_ptr<Places> Make(size_t most, size_t most_of_one) {
    return std::shared_ptr<Places>(new Places(most, most_of_one));
  }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;

  // Taken for as long as this lives.
  class Place {
   public:
    Place(std::shared_ptr<Places> of, int64_t caller) : of_(std::move(of)), caller_(caller) {}
    Place(Place&& other) = default;
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (of_) of_->GiveBack(caller_);
    }

   private:
    std::shared_ptr<Places> of_;
    int64_t caller_;
  };

  // nullopt: none is left, or the caller holds as many as one may.
  std::optional<Place> Take(int64_t caller) {
    if (taken_ >= most_ || Of(caller) >= most_of_one_) return std::nullopt;
    ++taken_;
    ++by_caller_[caller];
    return Place(shared_from_this(), caller);
  }

  size_t Of(int64_t caller) const {
    const auto found = by_caller_.find(caller);
    return found == by_caller_.end() ? 0 : found->second;
  }
  size_t taken() const { return taken_; }
  size_t most() const { return most_; }
  size_t most_of_one() const { return most_of_one_; }

 private:
  Places(size_t most, size_t most_of_one) : most_(most), most_of_one_(most_of_one) {}

  void GiveBack(int64_t caller) {
    --taken_;
    const auto found = by_caller_.find(caller);
    if (--found->second == 0) by_caller_.erase(found);
  }

  const size_t most_;
  const size_t most_of_one_;
  size_t taken_ = 0;
  std::unordered_map<int64_t, size_t> by_caller_;
};

}  // namespace gpuadvise::daemon
