// The daemon itself: the one place where its parts are made and told about signals.
//
// One io thread (the caller of Run()), one worker that takes snapshots in, a few that answer; the
// TCP listener has threads of its own (daemon/dashboard/public_edge.h).
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "common/error.h"
#include "daemon/accounting.h"
#include "daemon/advice_store.h"
#include "daemon/cluster_state.h"
#include "daemon/collector.h"
#include "daemon/dashboard/public_edge.h"
#include "daemon/event_teller.h"
#include "daemon/experiment_log.h"
#include "daemon/handlers.h"
#include "daemon/history_writer.h"
#include "daemon/http_server.h"
#include "daemon/listening.h"
#include "daemon/outcome_folder.h"
#include "daemon/settings_file.h"
#include "daemon/snapshot_sink.h"
#include "daemon/usage_book.h"
#include "daemon/user_names.h"

namespace gpuadvise {

class Daemon {
 public:
  /// Reads what the settings name and binds the sockets. Errors: the first thing that stands in the
  /// way, with its remedy.
  static Result<std::unique_ptr<Daemon>> Make(const CommandLineSettings& command_line,
                                              LoadedSettings loaded);
  ~Daemon();

  /// Serves until SIGTERM or SIGINT, then drains.
  void Run();

 private:
  struct Parts {
    std::shared_ptr<const Knowledge> knowledge;
    CollectorPlan plan;
    AccountingPlan accounting;
    std::unique_ptr<History> history;  // null: none is kept
    std::string no_history;            // because
  };

  Daemon(const CommandLineSettings& command_line, LoadedSettings loaded, Parts parts);
  static Result<Parts> PartsFor(const Settings& settings);
  static void OpenHistory(const Settings& settings, Parts& parts);
  Result<void> BindSockets();
  Result<void> BindPublic();
  Past PastFromHistory();
  void WatchSignals();
  void LookForEvents();
  void FeedWatchdog(std::chrono::microseconds interval);
  void Reload();
  void Apply(LoadedSettings loaded, const Parts& parts);
  void Stop();

  const CommandLineSettings command_line_;
  LoadedSettings loaded_;
  const SystemClock clock_;
  boost::asio::io_context io_{1};
  boost::asio::thread_pool intake_{1};
  boost::asio::thread_pool answering_;
  ClusterState cluster_;
  HistoryWriter history_;
  AdviceStore advice_;
  ExperimentLog experiments_;
  UsageBook usage_;
  OutcomeFolder outcomes_;
  UserNames users_;
  EventTeller events_;
  ApiState api_;
  SnapshotSink sink_;
  CollectorPlan plan_;
  Collector collector_;
  Accounting accounting_;
  HttpServer server_;
  std::optional<PublicEdge> public_;  // where `listen` is set
  std::optional<UnixListener> unix_;
  boost::asio::signal_set signals_;
  boost::asio::steady_timer watchdog_;
  boost::asio::steady_timer event_timer_;
  bool stopping_ = false;
};

}  // namespace gpuadvise
