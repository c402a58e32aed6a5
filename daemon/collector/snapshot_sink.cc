#include "daemon/collector/snapshot_sink.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <optional>
#include <utility>

#include "common/base/text.h"

namespace gpuadvise::daemon {

void SnapshotSink::Begin() {
  assembler_ = SnapshotAssembler();
  lines_ = LineSplitter(kMaxRecordBytes);
  rubbish_lines_ = 0;
  dropped_before_ = 0;
}

CollectorProgress SnapshotSink::Feed(std::string_view bytes) {
  CollectorProgress progress;
  taken_at_ = std::chrono::steady_clock::now();
  lines_.Feed(bytes, [&](std::string_view line) { TakeLine(line, progress); });
  reading_seconds_ += SinceTaken();
  const int64_t dropped = lines_.dropped() - dropped_before_;
  if (dropped > 0) {
    dropped_before_ = lines_.dropped();
    rubbish_lines_ += dropped;
    if (!progress.rubbish) {
      progress.rubbish =
          fmt::format("it printed a line of more than {} KiB", kMaxRecordBytes / 1024);
    }
  }
  return progress;
}

double SnapshotSink::SinceTaken() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - taken_at_).count();
}

void SnapshotSink::TakeLine(std::string_view line, CollectorProgress& progress) {
  if (stopped_) return;
  auto outcome = assembler_.Feed(line);
  if (outcome) {
    if (*outcome) Deliver(std::move(**outcome), progress);
    return;
  }
  if (outcome.error().code == ErrorCode::kUnavailable) {
    progress.alive = true;
    progress.error = std::move(outcome.error().message);
    return;
  }
  // Reports the first bad line of a batch; counts the others.
  if (rubbish_lines_++ == 0)
    progress.rubbish =
        "it printed an invalid record: " + OneLine(outcome.error().message, kMaxMessageBytes);
}

void SnapshotSink::Deliver(std::shared_ptr<const Snapshot> snapshot, CollectorProgress& progress) {
  if (rubbish_lines_ > 1)
    spdlog::warn("the collector printed {} bad lines since its last batch", rubbish_lines_);
  rubbish_lines_ = 0;
  if (assembler_.left_out() != told_) {
    told_ = assembler_.left_out();
    if (told_.records > 0)
      spdlog::warn("of the snapshot {}", OneLine(told_.InWords(), kMaxMessageBytes));
  }
  spdlog::debug("a snapshot was read in {:.3f} s", reading_seconds_ + SinceTaken());
  reading_seconds_ = 0;
  progress = CollectorProgress{true, true, std::nullopt, std::nullopt};
  cluster_.Accept(std::move(snapshot));
  taken_at_ = std::chrono::steady_clock::now();
}

}  // namespace gpuadvise::daemon
