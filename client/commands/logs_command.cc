// `gpuadvise logs JOBID`: a job's output, as it stands or as it is written.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "client/api/exit_code.h"
#include "client/commands/options.h"
#include "client/commands/report.h"
#include "client/records/job_log.h"
#include "common/process/descriptor.h"

namespace gpuadvise::client {
namespace {

struct LogsCommand {
  std::string job_id;
  bool follow = false;
  std::optional<int64_t> lines;  // the last ones
  bool path_only = false;
};

constexpr double kLookSeconds = 0.5;    // between two looks at the file
constexpr int kLooksPerQuestion = 20;   // slurmctld is asked every ten seconds
constexpr int kQuietLooksAtTheEnd = 4;  // after the job's end its last lines may come late (NFS)
constexpr int64_t kMostTailBytes = 16 << 20;

// One file that grows. It is opened by its name for each look, since it may be replaced.
class LogFile {
 public:
  LogFile(std::string path, Console& console) : path_(std::move(path)), console_(console) {}

  // Starts at the last `lines` lines of what is there.
  void StartAtLast(int64_t lines) { tail_ = lines; }

  // Prints what is new. False and errno where the file cannot be read.
  bool PrintNew(bool* grew) {
    *grew = false;
    // Not a FIFO's writer to wait for: O_NONBLOCK.
    const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    struct stat status {};
    if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return false;
    if (!S_ISREG(status.st_mode)) {
      errno = S_ISDIR(status.st_mode) ? EISDIR : EINVAL;
      return false;
    }
    if (inode_ != 0 && (status.st_ino != inode_ || status.st_size < at_)) {
      console_.Complain(
          "gpuadvise: the file was truncated or replaced; printing it from its start");
      at_ = 0;
    }
    inode_ = status.st_ino;
    if (tail_) at_ = StartOfLast(file.get(), status.st_size, *tail_);
    tail_.reset();
    return PrintFrom(file.get(), grew);
  }

 private:
  bool PrintFrom(int file, bool* grew) {
    std::array<char, 65536> buffer;
    for (;;) {
      const ssize_t got = ::pread(file, buffer.data(), buffer.size(), at_);
      if (got < 0) return false;
      if (got == 0) return true;
      *grew = true;
      at_ += got;
      console_.PrintLog({buffer.data(), static_cast<size_t>(got)});
    }
  }

  static int64_t StartOfLast(int file, int64_t size, int64_t lines) {
    if (lines == 0) return size;
    std::array<char, 65536> buffer;
    const int64_t least = std::max<int64_t>(0, size - kMostTailBytes);
    int64_t found = 0;
    for (int64_t end = size; end > least;) {
      const int64_t begin = std::max<int64_t>(least, end - static_cast<int64_t>(buffer.size()));
      const ssize_t got = ::pread(file, buffer.data(), static_cast<size_t>(end - begin), begin);
      if (got <= 0) return begin;
      for (ssize_t i = got - 1; i >= 0; --i) {
        if (buffer[static_cast<size_t>(i)] != '\n' || begin + i == size - 1) continue;
        if (++found == lines) return begin + i + 1;
      }
      end = begin;
    }
    return least;
  }

  std::string path_;
  Console& console_;
  int64_t at_ = 0;
  ino_t inode_ = 0;  // 0: never read
  std::optional<int64_t> tail_;
};

Error CannotRead(const JobLog& log, int error) {
  if (error == ENOENT && log.state == "PENDING") {
    return {ErrorCode::kBadInput,
            log.path + " is not there yet: the job is pending; -f waits for it", ""};
  }
  if (error == ENOENT) {
    return {ErrorCode::kBadInput,
            log.path + " does not exist; it may be on the node only, removed, or not written yet",
            ""};
  }
  return {ErrorCode::kBadInput, log.path + " cannot be read: " + std::strerror(error), ""};
}

int Follow(const LogsCommand& command, JobLog log, const CommandContext& context, LogFile& file) {
  Console& console = context.console;
  bool waited = false;
  for (int looks = 1, quiet = 0; quiet < kQuietLooksAtTheEnd; ++looks) {
    bool grew = false;
    if (!file.PrintNew(&grew)) {
      if (errno != ENOENT) return Report(CannotRead(log, errno), console);
      if (log.ended) return Report(CannotRead(log, ENOENT), console);
      if (!waited) console.Complain("gpuadvise: waiting for " + log.path);
      waited = true;
    }
    quiet = grew || !log.ended ? 0 : quiet + 1;
    context.sleep(kLookSeconds);
    if (log.ended || looks % kLooksPerQuestion != 0) continue;
    const Result<JobLog> now = FindJobLog(command.job_id, context.slurm);
    if (now) {
      log.state = now->state;
      log.ended = now->ended;
    } else if (now.error().code == ErrorCode::kBadInput) {  // it has left Slurm's memory
      log.ended = true;
    }
  }
  console.Complain(fmt::format("gpuadvise: job {} has ended: {}", command.job_id, log.state));
  return kExitOk;
}

int Run(LogsCommand& command, const CommandContext& context) {
  Console& console = context.console;
  const Result<JobLog> log = FindJobLog(command.job_id, context.slurm);
  if (!log) return Report(log.error(), console);
  if (command.path_only) {
    console.PrintDocument(log->path + "\n");
    return kExitOk;
  }
  LogFile file(log->path, console);
  if (command.lines) file.StartAtLast(*command.lines);
  if (command.follow) return Follow(command, *log, context, file);
  bool grew = false;
  if (!file.PrintNew(&grew)) return Report(CannotRead(*log, errno), console);
  return kExitOk;
}

void AddOptions(LogsCommand& command, Options& options) {
  options.Required("JOBID", command.job_id, "Job id, or JOBID_TASK of an array", CheckJobOrTask);
  options.Flag("-f,--follow", command.follow, "Go on printing until the job ends");
  options.Number("-n,--lines N", command.lines, 0, 1e6, "Only the last N lines");
  options.Flag("--path", command.path_only, "Print the file's path only");
}

}  // namespace

Command MakeLogsCommand() {
  return MakeCommand<LogsCommand>("logs", "Print or follow the output of a job", AddOptions, Run);
}

}  // namespace gpuadvise::client
