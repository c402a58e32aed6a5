// The API as one function: request, peer and state in, response out (docs/api.md).
//
// Knows nothing of sockets. Safe from any thread; takes as long as the answer functions of
// common/answers.h do, so the edge calls it on a worker. Never throws.
#pragma once

#include "common/for_each.h"
#include "daemon/advice_store.h"
#include "daemon/api_types.h"
#include "daemon/clock.h"
#include "daemon/cluster_state.h"
#include "daemon/experiment_log.h"
#include "daemon/history_writer.h"
#include "daemon/usage_book.h"
#include "daemon/user_names.h"

namespace gpuadvise {

class AnswerCache;
class EventTeller;

/// What the handlers read and change. Everything outlives the calls and is itself thread-safe.
struct ApiState {
  ClusterState& cluster;
  HistoryWriter& history;
  AdviceStore& advice;
  ExperimentLog& experiments;
  UserNames& users;
  const Clock& clock;
  std::string outcomes_dir = {};  // where jobs leave outcomes that no socket takes; "": nowhere
  ForEach for_each = OneByOne;    // lends threads to one request
  UsageBook* usage = nullptr;     // what GET /v1/history tells; nullptr: nothing
  EventTeller* events = nullptr;  // nullptr: there are none
  AnswerCache* shared = nullptr;  // of callers without a name; nullptr: each answer is made anew
};

ApiResponse Handle(const ApiRequest& request, const Peer& peer, ApiState& state);

}  // namespace gpuadvise
