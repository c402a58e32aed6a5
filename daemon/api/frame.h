// The frame that every answer has (docs/api.md, "Every answer"): where the data comes from, how old
// it is, errors and warnings. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/base/error.h"
#include "daemon/http/plain_error.h"
#include "daemon/state/cluster_state.h"

namespace gpuadvise::daemon {

// `answer`'s own members inside the frame. `state` may be null.
nlohmann::json Framed(nlohmann::json answer, const DaemonState* state, const Freshness& freshness);

// An answer as text, of which `answer_at` is where it goes on after its frame; `tag` is an entity
// tag (ETag) of what follows there, the same whatever the snapshot's age.
struct FramedAnswer {
  std::shared_ptr<const std::string> text;
  size_t answer_at = 0;
  std::string tag;
};

// The same as text.
FramedAnswer FramedText(nlohmann::json answer, const DaemonState* state,
                        const Freshness& freshness);

// The same answer in another frame.
FramedAnswer Reframed(const FramedAnswer& framed, const DaemonState* state,
                      const Freshness& freshness);

// The frame with `error` as its only error.
nlohmann::json FramedError(const Error& error, const DaemonState* state,
                           const Freshness& freshness);

// The HTTP status of an error code.
int StatusOf(ErrorCode code);

}  // namespace gpuadvise::daemon
