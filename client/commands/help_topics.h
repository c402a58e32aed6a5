// `gpuadvise help TOPIC`: short texts on what the answers mean, for the terminal. The documents in
// docs/ have the whole of it.
#pragma once

#include <span>

namespace gpuadvise::client {

struct HelpTopic {
  const char* name;
  const char* title;
  const char*
      text;  // paragraphs, with an empty line between two; lines that begin with blanks stay
};

std::span<const HelpTopic> HelpTopics();

}  // namespace gpuadvise::client
