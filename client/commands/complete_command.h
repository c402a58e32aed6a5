// `gpuadvise complete WORD...`: what may stand where the cursor is. The shells' own completion
// files (completions/) call it with the words after `gpuadvise`, the last of them unfinished.
//
// Prints one candidate a line, its description behind a tab; the line ":files" asks the shell to
// offer files as well. A candidate has letters, digits and "_.,:=+@/-" only, so that no shell
// finds anything to expand or to run in it: a name with other characters is not offered. Commands
// and options come from the parser's own table, GPU types, partitions and jobs from the daemon.
// Where that does not answer at once there are fewer candidates and no message.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "client/api/daemon_client.h"
#include "client/models/built_in.h"
#include "client/terminal/console.h"

namespace gpuadvise::client {

// A person waits with a finger on the Tab key.
inline constexpr std::chrono::milliseconds kCompletionPatience{300};

struct CompletionPlace {
  std::string user;   // the caller's name, whose jobs are offered; "" not known
  OwnCatalogues own;  // of the user's settings
  // The daemon at a socket; "": the one of the settings.
  std::function<std::unique_ptr<Api>(const std::string& socket)> api;
};

// kExitOk whatever there is to offer.
int RunComplete(const std::vector<std::string>& words, const CompletionPlace& place,
                Console& console);

}  // namespace gpuadvise::client
