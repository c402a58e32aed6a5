#include "daemon/collect/collect_loop.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <random>
#include <thread>
#include <utility>

#include "common/base/text.h"
#include "common/slurm/snapshot_records.h"

namespace gpuadvise::collect {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr size_t kWriteBytes = 1 << 16;
constexpr milliseconds kFirstRetry{5'000};
constexpr milliseconds kLongestRetry{20'000};
constexpr milliseconds kSlow{10'000};

// Reports, for as long as the object lives, that an operation takes long.
//
// The callback runs on its own thread every `period`. The destructor waits for a running callback.
class SlowWatch {
 public:
  SlowWatch(std::chrono::milliseconds period, std::function<void(std::chrono::seconds)> tell);
  ~SlowWatch();
  SlowWatch(const SlowWatch&) = delete;
  SlowWatch& operator=(const SlowWatch&) = delete;

 private:
  void Run(std::chrono::milliseconds period, const std::function<void(std::chrono::seconds)>& tell);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool end_ = false;
  std::thread thread_;  // last: uses the other members
};

SlowWatch::SlowWatch(std::chrono::milliseconds period,
                     std::function<void(std::chrono::seconds)> tell)
    : thread_([this, period, tell = std::move(tell)] { Run(period, tell); }) {}

SlowWatch::~SlowWatch() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    end_ = true;
  }
  ended_.notify_all();
  thread_.join();
}

void SlowWatch::Run(std::chrono::milliseconds period,
                    const std::function<void(std::chrono::seconds)>& tell) {
  const auto begin = Clock::now();
  std::unique_lock<std::mutex> lock(mutex_);
  while (!ended_.wait_for(lock, period, [this] { return end_; })) {
    tell(std::chrono::duration_cast<std::chrono::seconds>(Clock::now() - begin));
  }
}

milliseconds WithJitter(milliseconds pause) {
  static std::minstd_rand random{std::random_device{}()};
  std::uniform_real_distribution<double> factor(0.9, 1.1);
  return milliseconds(static_cast<int64_t>(static_cast<double>(pause.count()) * factor(random)));
}

bool IsPipeOrSocket(int descriptor) {
  struct stat status {};
  return ::fstat(descriptor, &status) == 0 &&
         (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
}

// Reads and drops pending input; returns false once the other end has closed.
bool StillOpen(int input) {
  std::array<char, 256> ignored;
  return ::read(input, ignored.data(), ignored.size()) > 0;
}

// Waits for `pause`, or for `short_pause` once a line requests a poll. Returns false if the reader
// of our output or the writer of our input has gone.
bool WaitWhileWanted(milliseconds pause, milliseconds short_pause, const LoopOptions& options) {
  const auto begin = Clock::now();
  auto until = begin + pause;
  std::array<pollfd, 2> watched = {{{options.output, 0, 0}, {options.input, POLLIN, 0}}};
  if (!IsPipeOrSocket(options.input)) watched[1].fd = -1;
  while (true) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left.count() <= 0) return true;
    const int ready = ::poll(watched.data(), watched.size(),
                             static_cast<int>(std::min<int64_t>(left.count() + 1, 60'000)));
    if (ready <= 0) continue;
    if ((watched[0].revents & (POLLERR | POLLNVAL)) != 0) return false;
    if (watched[1].revents == 0) continue;
    if (!StillOpen(options.input)) return false;
    until = std::min(until, begin + short_pause);
  }
}

bool WriteError(LineOutput& output, std::string_view message) {
  return output.Write([&](const LineOutput::Sink& sink) { sink(ErrorRecord(message)); });
}

int Failed(const LoopOptions& options, const Error& error) {
  fmt::print(stderr, "gpuadvise-collect: {}: {}\n", options.source_name, error.message);
  return 1;
}

std::string SlowMessage(const LoopOptions& options, std::chrono::seconds waited) {
  return fmt::format("{} has had no answer for {} s; waiting on", options.source_name,
                     waited.count());
}

}  // namespace

std::string LeftOutTeller::Tell(const LeftOut& left_out, Clock::time_point now) {
  if (!hour_began_ || now - *hour_began_ >= std::chrono::hours(1)) {
    hour_began_ = now;
    stories_ = 0;
  }
  if (left_out == told_ || stories_ > kMostStories) return "";
  told_ = left_out;
  if (left_out.records == 0) return "";
  if (++stories_ <= kMostStories) return OneLine(left_out.InWords(), kMaxMessageBytes);
  told_ = LeftOut();  // report it again next hour if it persists
  return "more records are left out; not reported again this hour";
}

bool LineOutput::Write(const std::function<void(const Sink&)>& writer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  writer([this](std::string_view line) {
    buffer_.append(line).push_back('\n');
    if (buffer_.size() >= kWriteBytes) WriteOut();
  });
  WriteOut();
  return !closed_;
}

void LineOutput::WriteOut() {
  std::string_view rest = buffer_;
  while (!rest.empty() && !closed_) {
    const ssize_t n = ::write(descriptor_, rest.data(), rest.size());
    if (n >= 0) {
      rest.remove_prefix(static_cast<size_t>(n));
    } else if (errno != EINTR) {
      closed_ = true;
    }
  }
  buffer_.clear();
}

std::chrono::milliseconds PauseAfter(milliseconds interval, int failures, milliseconds took) {
  if (failures == 0) return std::max(interval, std::min(3 * took, 2 * interval));
  const milliseconds first = std::min(interval, kFirstRetry);
  const milliseconds longest = std::max(interval, std::min(kLongestRetry, 8 * interval));
  return std::min(first * (1 << std::min(failures - 1, 10)), longest);
}

int RunCollectLoop(Source& source, const LoopOptions& options) {
  LineOutput output(options.output);
  int failures = 0;
  LeftOutTeller teller;
  while (true) {
    const auto begin = Clock::now();
    Result<Poll> poll = [&] {
      const SlowWatch watch(kSlow, [&](std::chrono::seconds waited) {
        if (!options.once) WriteError(output, SlowMessage(options, waited));
      });
      return source.Step();
    }();
    const auto took = std::chrono::duration_cast<milliseconds>(Clock::now() - begin);
    failures = poll ? 0 : failures + 1;
    if (!poll && (options.once || poll.error().code != ErrorCode::kUnavailable)) {
      if (!options.once) WriteError(output, poll.error().message);
      return Failed(options, poll.error());
    }
    if (poll) poll->snapshot.requests = source.TakeRequests();
    const bool read = poll ? output.Write([&](const LineOutput::Sink& sink) {
      WriteBatch(poll->snapshot, poll->changed, sink);
    })
                           : WriteError(output, poll.error().message);
    const std::string told = poll ? teller.Tell(poll->left_out, Clock::now()) : "";
    if (!told.empty()) fmt::print(stderr, "{}\n", told);
    if (!read || options.once || (poll && poll->last)) return 0;
    const milliseconds pause = WithJitter(PauseAfter(options.interval, failures, took));
    const milliseconds soonest = std::min(options.interval, options.soonest);
    if (!WaitWhileWanted(pause, PauseAfter(soonest, failures, took), options)) return 0;
  }
}

}  // namespace gpuadvise::collect
