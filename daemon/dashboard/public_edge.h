// The TCP listener: the dashboard and the read-only part of the API, for callers without a name.
//
// Problem. Hundreds of pages that stay open, and strangers who may flood, share a daemon with the
// people on the Unix socket, who want an answer in milliseconds.
// Idea. Nothing is shared that could be used up: a server of its own with its own thread, workers,
// connections and limits, all at a lower scheduling priority; answers are made once for all pages
// (answer_cache.h); what must be computed for one caller has a worker of its own, for which only so
// many wait.
// Whom a trusted login proxy names is answered here as the Unix socket would (ProxiedPeer); only
// the bounds are those of this edge.
// What it costs: three threads, and an answer a little later when the machine is busy.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/thread_pool.hpp>
#include <string>
#include <thread>
#include <vector>

#include "daemon/api/answer_cache.h"
#include "daemon/api/routes.h"
#include "daemon/dashboard/compressed_answers.h"
#include "daemon/http/http_server.h"

namespace gpuadvise::daemon {

struct PublicEdgeOptions {
  HttpLimits limits;
  std::vector<std::string> hosts;  // beside addresses and localhost (listen_hosts)
};

// Who asks, where `peer` is the trusted proxy and `request` names somebody: that user, or a caller
// without a name and why. Other peers are who they were. May block on a directory service.
//
// Root is not named by a proxy: whoever can make it say so would see everything.
Peer ProxiedPeer(const ApiRequest& request, const Peer& peer, UserNames& users);

// The page, its files, or the API's answer; refused where a browser asks for a page of another
// origin (browser_guard.h). `hosts`: names that lead here. Safe from any thread.
ApiResponse AnswerOverTcp(const ApiRequest& request, const Peer& peer, ApiState& state,
                          const std::vector<std::string>& hosts, CompressedAnswers& compressed);

// This thread from now on goes behind those that answer the Unix socket. Where that is refused,
// everything works all the same.
void StepBack();

class PublicEdge {
 public:
  // `state` is used on this edge's threads and must outlive it, as what it refers to.
  PublicEdge(const ApiState& state, PublicEdgeOptions options);
  ~PublicEdge();
  PublicEdge(const PublicEdge&) = delete;
  PublicEdge& operator=(const PublicEdge&) = delete;

  // Accepts on the listening `descriptor`, which becomes the edge's, and begins to serve.
  void Serve(Descriptor descriptor);

  // The same on the Unix socket of the trusted proxy (HttpLimits::proxy).
  void ServeProxy(Descriptor descriptor);

  // Accepts no more and lets requests finish, until `deadline`; then calls `done` on the edge's
  // thread. Call once, after Serve().
  void Drain(std::chrono::milliseconds deadline, std::function<void()> done);

  // The whole answer to one request, as any of its workers would give it.
  ApiResponse Answer(const ApiRequest& request, const Peer& peer);

 private:
  void Listen(Descriptor descriptor, HttpServer::Callers callers);

  ApiState state_;
  AnswerCache answers_;
  CompressedAnswers compressed_;
  const PublicEdgeOptions options_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_;
  boost::asio::thread_pool pages_{1};
  boost::asio::thread_pool questions_{1};
  HttpServer server_;
  std::thread thread_;
};

}  // namespace gpuadvise::daemon
