// One connection: reads requests one after the other, has each answered, writes the answers.
//
// Thin: what a request means is the server's `Answer`. Requests that come early (pipelining) wait
// in the buffer. Keeps itself alive until its connection ends. Runs on the server's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <memory>
#include <optional>

#include "daemon/http_server.h"

namespace gpuadvise {

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  HttpSession(HttpServer& server, HttpServer::Socket socket, Peer peer);

  void Start();
  /// Ends the connection now if it is between two requests, else after the answer.
  void Drain();
  /// Ends it now.
  void Cut();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Next { kGoOn, kEnd };

  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<Next> ServeOne();
  boost::asio::awaitable<boost::system::error_code> WaitForRequest();
  boost::asio::awaitable<boost::system::error_code> ReadRequest(Parser& parser);
  boost::asio::awaitable<boost::system::error_code> SayContinue(const Parser& parser);
  boost::asio::awaitable<ApiResponse> AnswerOnWorker(ApiRequest request);
  boost::asio::awaitable<boost::system::error_code> Write(ApiResponse response, unsigned version,
                                                          bool keep_alive);
  boost::asio::awaitable<Next> RefuseRead(boost::system::error_code error);
  boost::asio::awaitable<void> LingerAndClose();

  void SetDeadline(std::chrono::milliseconds from_now);
  void ClearDeadline();

  HttpServer& server_;
  HttpServer::Socket socket_;
  const Peer peer_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer deadline_;
  uint64_t deadline_round_ = 0;
  bool late_ = false;      // the deadline has passed
  bool idle_ = false;      // waiting for a request's first byte
  bool draining_ = false;  // no further request
};

}  // namespace gpuadvise
