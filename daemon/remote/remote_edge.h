// The TLS listener: people with a token or a munge credential, and strangers, from other hosts.
//
// It has its own thread, so handshakes, of which anybody may begin some, hold up nobody on the Unix
// socket. Whoever is known is answered as there, by the same workers; strangers as on the TCP
// listener. Certificate and keys are looked at every few seconds.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "daemon/api/answer_cache.h"
#include "daemon/api/routes.h"
#include "daemon/dashboard/compressed_answers.h"
#include "daemon/http/http_server.h"
#include "daemon/http/server_certificate.h"
#include "daemon/remote/identity.h"
#include "daemon/settings/settings.h"

namespace gpuadvise::daemon {

class RemoteEdge {
 public:
  // `state` and `workers` must outlive it. `limits`: those of the Unix socket, but for connections.
  // Errors: kUnavailable: a certificate, key or address that cannot be used, with its remedy.
  static Result<std::unique_ptr<RemoteEdge>> Make(const ApiState& state,
                                                  boost::asio::thread_pool& workers,
                                                  const ListenTlsSettings& settings,
                                                  const HttpLimits& limits);
  ~RemoteEdge();
  RemoteEdge(const RemoteEdge&) = delete;
  RemoteEdge& operator=(const RemoteEdge&) = delete;

  // Where it listens: "0.0.0.0:6829".
  const std::string& address() const { return address_; }

  // As PublicEdge::Drain().
  void Drain(std::chrono::milliseconds deadline, std::function<void()> done);

 private:
  RemoteEdge(const ApiState& state, boost::asio::thread_pool& workers,
             const ListenTlsSettings& settings, ServerCertificate certificate,
             std::unique_ptr<Tokens> tokens, const HttpLimits& limits);
  HttpGate Gate(const ListenTlsSettings& settings);
  void Serve(Descriptor descriptor);
  void LookAtFiles();
  ApiResponse Answer(const ApiRequest& request, const Peer& peer);

  ApiState state_;
  AnswerCache answers_;
  CompressedAnswers compressed_;
  ApiState strangers_state_;
  ServerCertificate certificate_;
  const std::unique_ptr<Tokens> tokens_;
  const IdentityRules rules_;
  std::string address_;
  std::string problem_;  // with a file, as it was logged
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> stay_;
  boost::asio::steady_timer look_;
  boost::asio::thread_pool identity_workers_{2};
  boost::asio::thread_pool strangers_{1};
  HttpServer server_;
  std::thread thread_;
};

}  // namespace gpuadvise::daemon
