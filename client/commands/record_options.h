// The options of commands that show jobs: queue, logs and eff.
#pragma once

#include <CLI/CLI.hpp>

#include "client/commands/commands.h"

namespace gpuadvise::client {

void AddQueueOptions(CLI::App* queue, QueueCommand* command);
void AddLogsOptions(CLI::App* logs, LogsCommand* command);
void AddEffOptions(CLI::App* eff, EffCommand* command);

}  // namespace gpuadvise::client
