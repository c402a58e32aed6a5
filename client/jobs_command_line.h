// The flags of `gpuadvise jobs` and `gpuadvise watch`; the rest of client/command_line.cc.
#pragma once

#include <string>

#include "client/commands.h"

namespace CLI {
class App;
}  // namespace CLI

namespace gpuadvise {

/// Says what is wrong with a job id, "" when nothing is.
using CheckWord = std::string (*)(const std::string& word);

CLI::App* AddJobs(CLI::App& app, JobsCommand& command, CheckWord check_job_id, std::string* socket);
CLI::App* AddWatch(CLI::App& app, WatchCommand& command, CheckWord check_job_id,
                   std::string* socket);

}  // namespace gpuadvise
