// The daemon itself: the one place where its parts are made and told about signals.
//
// One io thread (the caller of Run()), one worker that takes snapshots in, a few that answer; the
// TCP listener has threads of its own (daemon/dashboard/public_edge.h).
#pragma once

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "common/base/error.h"
#include "daemon/api/event_teller.h"
#include "daemon/api/routes.h"
#include "daemon/base/system.h"
#include "daemon/base/watchdog.h"
#include "daemon/collector/accounting.h"
#include "daemon/collector/collector.h"
#include "daemon/collector/snapshot_sink.h"
#include "daemon/dashboard/public_edge.h"
#include "daemon/http/http_server.h"
#include "daemon/http/listening.h"
#include "daemon/metrics/metrics.h"
#include "daemon/remote/remote_edge.h"
#include "daemon/settings/settings_file.h"
#include "daemon/state/advice_store.h"
#include "daemon/state/cluster_state.h"
#include "daemon/state/experiment_log.h"
#include "daemon/state/outcome_folder.h"
#include "daemon/state/usage_book.h"
#include "daemon/store/history_writer.h"

namespace gpuadvise::daemon {

class Daemon {
 public:
  // Reads what the settings name and binds the sockets. Errors: the first thing that stands in the
  // way, with its remedy.
  static Result<std::unique_ptr<Daemon>> Make(const CommandLineSettings& command_line,
                                              LoadedSettings loaded);
  ~Daemon();

  // Serves until SIGTERM or SIGINT, or until another daemon has taken over the history: whether
  // that is so, and a new Daemon is to stand by in the place of this one. Drains.
  bool Run();

 private:
  struct Parts {
    std::shared_ptr<const Catalogues> catalogues;
    CollectorPlan plan;
    AccountingPlan accounting;
    std::unique_ptr<History> history = {};  // null: none is kept
    std::string no_history = {};            // because
    bool stands_by = false;                 // another daemon has it
  };

  Daemon(const CommandLineSettings& command_line, LoadedSettings loaded, Parts parts);
  static Result<Parts> PartsFor(const Settings& settings);
  static void OpenHistory(const Settings& settings, Parts& parts);
  Result<void> BindSockets();
  Result<void> BindPublic();
  Result<void> BindRemote();
  HistoryEvents OnHistory();
  void LoadHistory();
  void Answer();
  ForecastHistory PastFromHistory();
  ApiState MakeApi();
  void WatchSignals();
  void PublishRegularly();
  void RestoreSocket();
  void Reload();
  void Apply(LoadedSettings loaded, const Parts& parts);
  void Stop();

  const CommandLineSettings command_line_;
  LoadedSettings loaded_;
  const SystemClock clock_;
  boost::asio::io_context io_{1};
  boost::asio::thread_pool intake_{1};
  boost::asio::thread_pool answering_;
  boost::asio::thread_pool helping_;  // what answers lend; none waits behind another's work
  ClusterState cluster_;
  HistoryWriter history_;
  AdviceStore advice_;
  ExperimentLog experiments_;
  UsageBook usage_;
  NodePast node_past_;
  OutcomeFolder outcomes_;
  UserNames users_;
  EventTeller events_;
  Metrics metrics_;
  ApiState api_;
  SnapshotSink sink_;
  CollectorPlan plan_;
  Collector collector_;
  Accounting accounting_;
  HttpServer server_;
  std::optional<UnixListener> proxy_;   // of the trusted proxy, where it has a socket
  std::optional<PublicEdge> public_;    // where `listen` is set, or there is such a socket
  std::unique_ptr<RemoteEdge> remote_;  // where listen_tls is set
  std::optional<UnixListener>
      unix_;                    // nullopt: its file was removed, and could not be made again yet
  std::string socket_path_;     // that it was bound to at the start
  std::string socket_problem_;  // why it cannot be made again, as it was logged
  boost::asio::signal_set signals_;
  Watchdog watchdog_;
  boost::asio::steady_timer event_timer_;
  std::atomic<bool> log_asked_for_ = false;
  bool remembers_ = false;  // used by intake_
  bool stopping_ = false;
  bool stands_by_ = false;  // at first
  bool answers_ = false;    // Slurm is polled
  bool is_taken_ = false;   // the history, by another daemon
};

}  // namespace gpuadvise::daemon
