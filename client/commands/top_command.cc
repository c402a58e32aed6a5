// `gpuadvise top`: the queue, the GPUs and a log, full screen.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/commands.h"
#include "client/records/job_log.h"
#include "client/top/top_screen.h"
#include "process/descriptor.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kRefresh(2);
constexpr int kKeyMilliseconds = 200;
constexpr off_t kLogEnd = 16'384;  // bytes of a log that are looked at
constexpr int kSignalExit = 128;   // as shells tell a signal

// The end of a file; "" where it cannot be read.
std::string EndOf(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  std::array<char, kLogEnd> buffer;
  const off_t from = std::max<off_t>(0, status.st_size - kLogEnd);
  const ssize_t got = ::pread(file.get(), buffer.data(), buffer.size(), from);
  return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(0, got))};
}

void Refresh(Api& api, TopData* data) {
  data->problem.clear();
  for (const auto& [target, into] :
       {std::pair{"/v1/queue?limit=2000", &data->queue}, {"/v1/gpus", &data->gpus}}) {
    Result<json> answer = api.Get(target);
    if (answer) {
      *into = std::move(*answer);
    } else {
      data->problem = answer.error().message;
      return;  // what was known stays
    }
  }
  data->problem = DataDoubt(data->queue);
}

// The log of the chosen job; its path is asked for once.
class ChosenLog {
 public:
  explicit ChosenLog(SlurmQuery& slurm) : slurm_(slurm) {}

  void Show(int64_t job, TopData* data) {
    if (job != job_) {
      job_ = job;
      const Result<JobLog> log =
          job == 0 ? Result<JobLog>(JobLog{}) : FindJobLog(std::to_string(job), slurm_);
      path_ = log ? log->path : "";
      problem_ = log ? "" : log.error().message;
    }
    data->log_path = problem_.empty() ? path_ : problem_;
    data->log = path_.empty() ? "" : EndOf(path_);
  }

 private:
  SlurmQuery& slurm_;
  int64_t job_ = 0;
  std::string path_;
  std::string problem_;
};

}  // namespace

int RunTop(const std::string& own_user, TopScreen& screen, SlurmQuery& slurm, Api& api,
           Console& console) {
  TopState state;
  TopData data;
  data.own_user = own_user;
  ChosenLog log(slurm);
  auto next = Clock::now();
  while (!state.quit && screen.Ended() == 0) {
    if (Clock::now() >= next) {
      Refresh(api, &data);
      next = Clock::now() + kRefresh;
    }
    data.now = console.now();
    log.Show(state.log_of, &data);
    screen.Show(DrawTop(data, state, screen.size()));
    const TopKey key = screen.Next(kKeyMilliseconds);
    const std::vector<json> rows = TopRows(data, state);
    const int page = TopPage(state, screen.size());
    state = AfterKey(std::move(state), key, rows, page);
  }
  return screen.Ended() == 0 ? kExitOk : kSignalExit + screen.Ended();
}

}  // namespace gpuadvise::client
