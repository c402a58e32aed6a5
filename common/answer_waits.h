// GET /v1/waits: how long jobs of common shapes and limits would wait for each GPU type, and the
// best places to go.
//
// Every figure is one StartOf. See answer_waits.cc for how many there are and what that costs; the
// same for every caller without a name, so that an edge may keep it as long as the view.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "common/answers.h"

namespace gpuadvise {

nlohmann::json AnswerWaits(const ClusterView& view, const Submitter& caller);

}  // namespace gpuadvise
