#include "daemon/collect/replay.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "daemon/collect/source.h"

namespace gpuadvise::collect {
namespace {

class ReplaySource : public Source {
 public:
  ReplaySource(std::string path, std::ifstream file)
      : path_(std::move(path)), file_(std::move(file)), buffer_(kMaxRecordBytes + 1) {}

  Result<Poll> Step() override {
    while (true) {
      const Result<std::optional<std::string_view>> line = NextLine();
      if (!line) return tl::unexpected<Error>(line.error());
      if (!*line) return Repeat();
      auto fed = assembler_.Feed(**line);
      if (!fed) return tl::unexpected<Error>(Placed(std::move(fed.error())));
      inside_batch_ = !*fed;
      if (*fed) return Deliver(***fed);
    }
  }

 private:
  // The next line, at most kMaxRecordBytes long; nullopt: end of file.
  Result<std::optional<std::string_view>> NextLine() {
    file_.getline(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    auto length = static_cast<size_t>(file_.gcount());
    if (file_.eof() && length == 0) return std::nullopt;
    ++line_;
    if (file_.bad()) return BadInput(Located(strerror(errno)));
    if (file_.fail()) return BadInput(Located("the line is longer than a record may be (64 KiB)"));
    if (!file_.eof()) --length;  // the newline
    return std::string_view(buffer_.data(), length);
  }

  Result<Poll> Repeat() {
    if (inside_batch_) {
      return BadInput(Located("the file ends inside a snapshot; cut it before the last begin"));
    }
    if (!last_) {
      return BadInput(fmt::format(
          "{}: there is no snapshot in this file; record one with gpuadvise-collect", path_));
    }
    return Poll{*last_, TableSet{}, {}};
  }

  Poll Deliver(const Snapshot& snapshot) {
    Poll poll{snapshot, last_ ? ChangedTables(*last_, snapshot) : TableSet::All(),
              assembler_.left_out()};
    last_ = snapshot;
    return poll;
  }

  std::string Located(std::string_view sentence) const {
    return fmt::format("{}:{}: {}", path_, line_, sentence);
  }

  // Keeps a recorded error as it is; adds the position to errors of a damaged file.
  Error Placed(Error error) {
    inside_batch_ = false;
    if (error.code != ErrorCode::kUnavailable) error.message = Located(error.message);
    return error;
  }

  std::string path_;
  std::ifstream file_;
  std::vector<char> buffer_;
  SnapshotAssembler assembler_;
  int64_t line_ = 0;
  bool inside_batch_ = false;
  std::optional<Snapshot> last_;
};

}  // namespace

SourceResult MakeReplaySource(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown)) {
    return BadInput(fmt::format("{}: is a folder; replay needs a file of records", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    const ErrorCode code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kBadInput;
    return Fail(code, fmt::format("{}: cannot be opened: {}", path, strerror(errno)));
  }
  return std::make_unique<ReplaySource>(path, std::move(file));
}

}  // namespace gpuadvise::collect
