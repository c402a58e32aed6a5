// What of a question and its train.yaml leaves its user: no more than the daemon counts with.
//
// Of `command`, `setup`, `env`, `workdir`, `container`, `slurm.extra`, `output.dir` and the words
// of `training.resume` no figure depends; tokens and paths stand there. The client takes them out
// before it asks, the daemon again before it keeps what it was asked. Answers, errors with their
// pointers and the family (job_family.h) are the same with and without them. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace gpuadvise {

// `spec` without the values of those keys. What stands there but cannot, and what stands under a
// key that no table has (`enviroment: …`), stays as an empty value of its kind, so that it is
// refused as before. `spec` is a train.yaml's JSON; anything is taken.
nlohmann::json SentSpec(const nlohmann::json& spec);

// Of a question (the body of POST /v1/advise, docs/api.md) what is counted with: `spec` as above,
// `constraints`, `objective` and `deadline` with the members that are read. null stays null.
nlohmann::json SentRequest(const nlohmann::json& request);

}  // namespace gpuadvise
