// `gpuadvise top`: the queue, the GPUs and a log, full screen.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/report.h"
#include "client/commands/shared_options.h"
#include "client/records/job_log.h"
#include "client/top/top_screen.h"
#include "common/process/descriptor.h"

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
  const Result<json> queue = api.Get("/v1/queue?limit=2000");
  const Result<json> gpus = queue ? api.Get("/v1/gpus") : queue;
  if (queue) data->queue = ReadAnswer<api::Queue>(*queue);
  if (!gpus) {
    data->problem = gpus.error().message;
    return;  // what was known stays
  }
  data->gpus = ReadAnswer<api::Gpus>(*gpus);
  data->problem = DataDoubt(data->queue.frame);
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

struct TopCommand {};

// Shows queue, GPUs and a log until the user quits or a signal comes.
int Run(TopCommand&, const CommandContext& context) {
  const Result<std::unique_ptr<TopScreen>> opened = OpenTopScreen();
  if (!opened) return Report(opened.error(), context.console);
  TopScreen& screen = **opened;
  const auto api = context.api_within(std::chrono::seconds(2));
  TopState state;
  TopData data;
  data.own_user = context.user_name();
  ChosenLog log(context.slurm);
  auto next = Clock::now();
  while (!state.quit && screen.Ended() == 0) {
    if (Clock::now() >= next) {
      Refresh(*api, &data);
      next = Clock::now() + kRefresh;
    }
    data.now = context.console.now();
    log.Show(state.log_of, &data);
    screen.Show(DrawTop(data, state, screen.size()));
    const TopKey key = screen.Next(kKeyMilliseconds);
    const std::vector<int64_t> rows = TopRows(data, state);
    const int page = TopPage(state, screen.size());
    state = AfterKey(std::move(state), key, rows, page);
  }
  return screen.Ended() == 0 ? kExitOk : kSignalExit + screen.Ended();
}

void AddOptions(TopCommand&, Options& options) { options.Place(); }

}  // namespace

Command MakeTopCommand() {
  return MakeCommand<TopCommand>("top", "Live view of queue, GPUs and logs, full screen",
                                 AddOptions, Run);
}

}  // namespace gpuadvise::client
