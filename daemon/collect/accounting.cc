#include "daemon/collect/accounting.h"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/base/slurm_time.h"
#include "common/slurm/accounted_job.h"
#include "common/slurm/snapshot_json.h"
#include "daemon/collect/slurm_cli.h"

namespace gpuadvise::collect {
namespace {

constexpr std::chrono::minutes kDeadline{5};

std::string Text(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace

Result<void> PrintAccounting(const AccountingOptions& options, std::FILE* out) {
  const std::string mark = DrawMark();
  std::vector<std::string> words = {options.bin_dir.empty() ? "sacct" : options.bin_dir + "/sacct",
                                    "-a",
                                    "-n",
                                    "-X",
                                    "-p",
                                    "--delimiter=" + mark,
                                    "-S",
                                    FormatTimestamp(options.since),
                                    "-E",
                                    FormatTimestamp(options.until),
                                    "-o",
                                    std::string(kSacctColumns)};
  const auto printed = AskSlurm(std::move(words), kDeadline);
  if (!printed) return tl::unexpected(printed.error());
  int64_t unreadable = 0;
  const std::vector<AccountedJob> jobs = ParseSacct(*printed, mark, unreadable);
  for (const AccountedJob& job : jobs) {
    std::fputs(Text({{"job", ToJson(job.record)}}).c_str(), out);
  }
  std::fputs(Text({{"end", jobs.size()}, {"unreadable", unreadable}}).c_str(), out);
  if (std::fflush(out) != 0) {
    return Fail(ErrorCode::kUnavailable, "the output of gpuadvise-collect is closed");
  }
  return {};
}

}  // namespace gpuadvise::collect
