// One request on its way through the API: what handlers are given, and how they answer.
//
// The picture that a request is answered from never changes under it. Safe from any thread: a
// RequestContext belongs to one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "common/advise/advice_context.h"
#include "common/base/error.h"
#include "common/base/for_each.h"
#include "common/history/node_past.h"
#include "daemon/base/api_types.h"
#include "daemon/base/clock.h"
#include "daemon/base/system.h"
#include "daemon/state/advice_store.h"
#include "daemon/state/cluster_state.h"
#include "daemon/state/experiment_log.h"
#include "daemon/state/usage_book.h"
#include "daemon/store/history_writer.h"

namespace gpuadvise::daemon {

class AnswerCache;
class EventTeller;
class Metrics;

// How much CPU time is meant for one answer, by the size of the cluster that it is about.
struct AnswerCost {
  std::chrono::nanoseconds base;
  std::chrono::nanoseconds per_node{0};
  std::chrono::nanoseconds per_job{0};
  // Beside it for each job of a queue that is played anew for each question (up to kLongQueue).
  std::chrono::nanoseconds per_played_job{0};

  // What a site's answer_cpu_time means. Where the compiler optimised nothing everything takes much
  // longer, and what is bounded is the work: all is 20 times as much.
  static AnswerCost Within(std::chrono::nanoseconds answer_cpu_time);

  std::chrono::nanoseconds For(const Snapshot* snapshot) const;
};

// What the handlers read and change. Everything outlives the calls and is itself thread-safe.
struct ApiState {
  ClusterState& cluster;
  HistoryWriter& history;
  AdviceStore& advice;
  ExperimentLog& experiments;
  UserNames& users;
  const Clock& clock;
  std::string outcomes_dir = {};  // where jobs leave outcomes that no socket takes; "": nowhere
  ForEach for_each = Serial;      // lends threads to one request
  UsageBook* usage = nullptr;     // what GET /v1/history tells; nullptr: nothing
  EventTeller* events = nullptr;  // nullptr: there are none
  AnswerCache* shared = nullptr;  // of callers without a name; nullptr: each answer is made anew
  AnswerCost most_work = {std::chrono::hours(24)};                     // of one answer
  std::function<std::chrono::nanoseconds()> cpu_time = ThreadCpuTime;  // of the calling thread
  std::string host = {};  // where the socket is, from which its callers would submit; "": not known
  Metrics* metrics = nullptr;      // told of every answer; nullptr: GET /metrics is not there
  bool history_in_server = false;  // whose host, user and name are not for everybody
  std::function<std::string()> accounting_problem =
      nullptr;                                // what lacks without it; "": it answers
  std::function<void()> poll_soon = nullptr;  // asks for a snapshot earlier than the next is due
  const NodePast* node_past = nullptr;        // what GET /v1/timeline tells of the past
};

struct RequestContext {
  const ApiRequest& request;
  const Peer& peer;
  ApiState& api;
  std::shared_ptr<const DaemonState> state;  // null before the first snapshot
  Freshness freshness;
  std::string id;  // the {id} of the path
  std::shared_ptr<const LearnedRuns> learned;
  WorkBudget& budget;
  std::string_view route = "none";  // that answers, "/v1/jobs/{id}"; "none": no such path
};

// `answer` in the frame.
ApiResponse Reply(const RequestContext& call, nlohmann::json answer, int status = 200);

// `error` in the frame.
ApiResponse Refuse(const RequestContext& call, const Error& error);

// Either of both; a refusal also where the budget has stopped what `answer` is of.
ApiResponse ReplyOrRefuse(const RequestContext& call, Result<nlohmann::json> answer);

// What `make` gives for the request: for callers without a name once for each state. With an ETag;
// 304 for who names it in If-None-Match.
ApiResponse ReplyOnce(const RequestContext& call,
                      const std::function<Result<nlohmann::json>()>& make);

// Why nothing can be answered before the first snapshot.
Error NoSnapshotYet(const Freshness& freshness);

// REQUIRES: call.state.
AdviceContext AdviceContextOf(const RequestContext& call);

Submitter CallerOf(const RequestContext& call);

}  // namespace gpuadvise::daemon
