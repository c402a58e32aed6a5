// `gpuadvise help TOPIC`: short texts on what the answers mean, for the terminal. The documents in
// docs/ have the whole of it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "client/terminal/console.h"

namespace gpuadvise::client {

struct HelpTopic {
  const char* name;
  const char* title;
  const char*
      text;  // paragraphs, with an empty line between two; lines that begin with blanks stay
};

std::span<const HelpTopic> HelpTopics();

// The text of a topic, the options of a command, or for "" the list of topics. kExitUsage where
// there is neither, with the nearest name.
int RunHelp(const std::string& topic, Console& console);

}  // namespace gpuadvise::client
