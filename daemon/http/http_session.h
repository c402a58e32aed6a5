// One connection: reads requests one after the other, has each answered, writes the answers.
//
// Thin: what a request means is the service's `answer`. Requests that come early (pipelining) wait
// in the buffer. An answer with events is the connection's last: they are written as they come,
// until the peer closes or does not take them. Keeps itself alive until its connection ends. Runs
// on the server's thread.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/api_types.h"
#include "daemon/http/http_service.h"
#include "daemon/http/http_stream.h"

namespace gpuadvise::daemon {

class HttpSession : public std::enable_shared_from_this<HttpSession> {
 public:
  using Closed = std::function<void(HttpSession*)>;

  // `closed` is called once, when the connection has ended. REQUIRES: `service` outlives it.
  HttpSession(HttpService& service, HttpStream stream, Peer peer, Closed closed);

  // Whose connections it counts among: Peer::caller of its last user, or else of its address.
  int64_t caller() const { return caller_; }
  // Whether it has shown nobody yet, and has a stranger's place (HttpGate).
  bool is_strangers() const { return service_.gate && caller_ < 0 && !cut_; }
  // When the last request came, or it was opened.
  std::chrono::steady_clock::time_point quiet_since() const { return quiet_since_; }

  void Start();
  // Ends the connection now if it is between two requests, else after the answer.
  void Drain();
  // Ends it now.
  void Cut();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class Next { kGoOn, kEnd };

  // How an answer goes out.
  struct Written {
    unsigned version = 11;
    bool keep_alive = false;
    bool header_only = false;  // HEAD
  };

  boost::asio::awaitable<void> Run();
  boost::asio::awaitable<bool> ShakeHands();
  boost::asio::awaitable<Next> ServeOne();
  boost::asio::awaitable<boost::system::error_code> WaitForRequest();
  boost::asio::awaitable<boost::system::error_code> ReadHeader(Parser& parser);
  boost::asio::awaitable<ApiResponse> Identify(const ApiRequest& header, Peer& asking);
  boost::asio::awaitable<boost::system::error_code> ReadBody(Parser& parser, size_t most_bytes);
  boost::asio::awaitable<boost::system::error_code> SayContinue(const Parser& parser);
  boost::asio::awaitable<ApiResponse> AnswerOnWorker(ApiRequest request, Peer asking);
  std::optional<Places::Place> TakeEvents(ApiResponse& response, const Peer& asking);
  boost::asio::awaitable<boost::system::error_code> Write(const ApiResponse& response,
                                                          Written written);
  boost::asio::awaitable<void> StreamEvents(std::shared_ptr<EventFeed> feed,
                                            std::optional<std::chrono::seconds> lasts);
  ApiRequest RequestFrom(const Parser& parser) const;
  boost::asio::awaitable<boost::system::error_code> WriteWaiting(EventFeed& feed);
  boost::asio::awaitable<boost::system::error_code> WriteText(const std::string& text);
  boost::asio::awaitable<Next> RefuseRead(boost::system::error_code error, size_t most_bytes);
  boost::asio::awaitable<Next> Refuse(const ApiResponse& refusal);
  boost::asio::awaitable<void> LingerAndClose();

  bool PeerIsGone();
  void WakeOn(EventFeed& feed);
  void Wake();

  void SetDeadline(std::chrono::milliseconds from_now);
  void ClearDeadline();

  HttpService& service_;
  const Closed closed_;
  HttpStream stream_;
  const Peer peer_;  // of the connection; over TLS a request may show another
  int64_t caller_;
  bool cut_ = false;
  std::chrono::steady_clock::time_point quiet_since_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point first_request_by_;
  boost::beast::flat_buffer buffer_;
  boost::asio::steady_timer deadline_;
  uint64_t deadline_round_ = 0;
  bool late_ = false;               // the deadline has passed
  bool idle_ = false;               // waiting for a request's first byte
  bool draining_ = false;           // no further request
  boost::asio::steady_timer wake_;  // while events are streamed
  bool news_ = false;               // something may wait in the feed
  bool peer_ended_ = false;         // it closed, or sent what nobody asked for
};

}  // namespace gpuadvise::daemon
