// Which trainings are so alike that what was measured of one holds for the other.
//
// The same model section and the same training section, but for how long it runs, how its batch is
// made and what was measured of it. Names, users, scripts and places do not count. A model of which
// only a memory line is known may be any: there the trainings' names must be the same, too. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gpuadvise {

// A short key, the same in every run of every program; "" for a training of several stages, whose
// steps cannot be told apart. `spec` is a train.yaml's JSON.
std::string JobFamilyOf(const nlohmann::json& spec);

}  // namespace gpuadvise
