#include "daemon/http_session.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <string>
#include <utility>

#include "daemon/frame.h"
#include "daemon/version.h"

namespace gpuadvise {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

/// What is still read and thrown away after a refusal, so that the peer gets to read it.
constexpr size_t kMaxLingerBytes = 4u << 20;
constexpr milliseconds kMaxLinger{1000};

auto Into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

asio::awaitable<ApiResponse> CallAnswer(const HttpServer::Answer& answer, const ApiRequest& request,
                                        const Peer& peer) {
  co_return answer(request, peer);
}

/// The answer to a request that could not be read; status 0: just close.
ApiResponse RefusalOf(error_code error, bool late, const HttpLimits& limits) {
  if (late) return PlainError(408, "bad_input", "the request took too long to arrive");
  if (error == http::error::body_limit) {
    return PlainError(413, "bad_input",
                      fmt::format("the request's body is over {} bytes", limits.max_body_bytes));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return PlainError(
        431, "bad_input",
        fmt::format("the request's header is over {} bytes", limits.max_header_bytes));
  }
  const bool not_http =
      error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message;
  if (not_http)
    return PlainError(400, "bad_input", "the request is no HTTP/1.1: " + error.message());
  return {0, "", ""};
}

}  // namespace

HttpSession::HttpSession(HttpServer& server, HttpServer::Socket socket, Peer peer)
    : server_(server),
      socket_(std::move(socket)),
      peer_(peer),
      buffer_(server.limits().max_header_bytes + (64u << 10)),
      deadline_(socket_.get_executor()) {}

void HttpSession::Start() {
  auto self = shared_from_this();
  asio::co_spawn(socket_.get_executor(), Run(), [self](std::exception_ptr failure) {
    self->ClearDeadline();
    self->server_.Closed(self.get());
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const std::exception& error) {
      spdlog::error("a connection ended by a bug: {}", error.what());
    }
  });
}

void HttpSession::Drain() {
  draining_ = true;
  if (idle_) Cut();
}

void HttpSession::Cut() {
  error_code ignored;
  socket_.cancel(ignored);
  socket_.shutdown(asio::socket_base::shutdown_both, ignored);
}

void HttpSession::SetDeadline(milliseconds from_now) {
  late_ = false;
  deadline_.expires_after(from_now);
  deadline_.async_wait([self = shared_from_this(), round = ++deadline_round_](error_code error) {
    if (error || round != self->deadline_round_) return;
    self->late_ = true;
    error_code ignored;
    self->socket_.cancel(ignored);
  });
}

void HttpSession::ClearDeadline() {
  ++deadline_round_;
  deadline_.cancel();
}

asio::awaitable<void> HttpSession::Run() {
  for (;;) {
    const Next next = co_await ServeOne();
    if (next == Next::kEnd) break;
  }
  error_code ignored;
  socket_.close(ignored);
}

asio::awaitable<HttpSession::Next> HttpSession::ServeOne() {
  error_code error = co_await WaitForRequest();
  if (error) co_return Next::kEnd;
  Parser parser;
  parser.header_limit(static_cast<uint32_t>(server_.limits().max_header_bytes));
  parser.body_limit(server_.limits().max_body_bytes);
  SetDeadline(server_.limits().request_timeout);
  error = co_await ReadRequest(parser);
  if (error) {
    const Next next = co_await RefuseRead(error);
    co_return next;
  }
  ClearDeadline();
  auto& message = parser.get();
  const unsigned version = message.version();
  const bool keep_alive = message.keep_alive();
  ApiRequest request{std::string(message.method_string()), std::string(message.target()),
                     std::move(message.body())};
  ApiResponse response = co_await AnswerOnWorker(std::move(request));
  const bool stay = keep_alive && !draining_;
  error = co_await Write(std::move(response), version, stay);
  co_return error || !stay ? Next::kEnd : Next::kGoOn;
}

asio::awaitable<error_code> HttpSession::WaitForRequest() {
  error_code error;
  if (draining_) co_return asio::error::operation_aborted;
  if (buffer_.size() > 0) co_return error;
  idle_ = true;
  SetDeadline(server_.limits().idle_timeout);
  co_await socket_.async_wait(asio::socket_base::wait_read, Into(error));
  idle_ = false;
  ClearDeadline();
  co_return error;
}

asio::awaitable<error_code> HttpSession::ReadRequest(Parser& parser) {
  error_code error;
  co_await http::async_read_header(socket_, buffer_, parser, Into(error));
  if (error || parser.is_done()) co_return error;
  error = co_await SayContinue(parser);
  if (error) co_return error;
  co_await http::async_read(socket_, buffer_, parser, Into(error));
  co_return error;
}

asio::awaitable<error_code> HttpSession::SayContinue(const Parser& parser) {
  error_code error;
  if (parser.get()[http::field::expect] != "100-continue") co_return error;
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  co_await asio::async_write(socket_, asio::buffer(kContinue), Into(error));
  co_return error;
}

asio::awaitable<ApiResponse> HttpSession::AnswerOnWorker(ApiRequest request) {
  ApiResponse response = co_await asio::co_spawn(
      server_.workers_, CallAnswer(server_.answer_, request, peer_), asio::use_awaitable);
  co_return response;
}

asio::awaitable<error_code> HttpSession::Write(ApiResponse response, unsigned version,
                                               bool keep_alive) {
  http::response<http::string_body> message{static_cast<http::status>(response.status), version};
  message.set(http::field::server, std::string("gpuadvised/") + kVersion);
  message.set(http::field::content_type, "application/json");
  message.set(http::field::cache_control, "no-store");
  if (!response.allow.empty()) message.set(http::field::allow, response.allow);
  message.keep_alive(keep_alive);
  message.body() = std::move(response.body);
  message.prepare_payload();
  error_code error;
  SetDeadline(server_.limits().request_timeout);
  co_await http::async_write(socket_, message, Into(error));
  ClearDeadline();
  co_return error;
}

asio::awaitable<HttpSession::Next> HttpSession::RefuseRead(error_code error) {
  ApiResponse refusal = RefusalOf(error, late_, server_.limits());
  ClearDeadline();
  if (refusal.status == 0) co_return Next::kEnd;
  const error_code written = co_await Write(std::move(refusal), 11, false);
  if (!written) co_await LingerAndClose();
  co_return Next::kEnd;
}

asio::awaitable<void> HttpSession::LingerAndClose() {
  error_code error;
  socket_.shutdown(asio::socket_base::shutdown_send, error);
  SetDeadline(kMaxLinger);
  std::array<char, 16384> scrap;
  size_t total = 0;
  while (!error && !late_ && total < kMaxLingerBytes) {
    const size_t count = co_await socket_.async_read_some(asio::buffer(scrap), Into(error));
    total += count;
  }
  ClearDeadline();
}

}  // namespace gpuadvise
