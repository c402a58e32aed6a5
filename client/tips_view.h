// The tips of a `gpuadvise fit --tips` as text: those that apply with their effect, then the others
// with the reason why not. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/console.h"

namespace gpuadvise {

/// Of one stage of the answer; "" where it has no tips.
std::string TipsView(const nlohmann::json& stage, const Look& look);

}  // namespace gpuadvise
