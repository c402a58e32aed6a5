// The caller's login to the Hugging Face Hub, and the models in its cache.
//
// Looks in the same places as huggingface_hub: HF_TOKEN, HUGGING_FACE_HUB_TOKEN, HF_TOKEN_PATH,
// $HF_HOME/token, ~/.cache/huggingface/token. Keeps only the place of a token, never the token.
// Does not use the network.
#pragma once

#include <string>

#include "client/shell/shell_text.h"

namespace gpuadvise::client {

struct HubLogin {
  std::string token_from;  // "HF_TOKEN" or the file; "": no token
  std::string token_file;  // where a login would write the token
  std::string cache;       // folder of downloaded models
  bool offline = false;    // HF_HUB_OFFLINE: no downloads
};

HubLogin LookForHubLogin(const Variables& variables);

// Whether `cache` has any version of `model` ("org/name").
bool IsInHubCache(const std::string& cache, const std::string& model);

// Whether the Hub requires accepting a licence for `model`.
bool IsGated(const std::string& model);

}  // namespace gpuadvise::client
