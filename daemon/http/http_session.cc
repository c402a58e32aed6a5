#include "daemon/http/http_session.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/sslerr.h>
#include <poll.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/serializer.hpp>
#include <boost/beast/http/span_body.hpp>
#include <boost/beast/http/write.hpp>
#include <exception>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "common/base/version.h"
#include "daemon/http/event_feed.h"
#include "daemon/http/plain_error.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::milliseconds;

namespace {

using Message = http::response<http::span_body<const char>>;

const std::string kWantsTls =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    "This port speaks HTTPS alone: write https:// in front of the address.\n";

// It keeps proxies from closing, shows us who is gone, and the page that we are here.
const std::string kStillHere = "event: alive\ndata: {}\n\n";

// What is still read and thrown away after a refusal, so that the peer gets to read it.
constexpr size_t kMaxLingerBytes = 4u << 20;
constexpr milliseconds kMaxLinger{1000};

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

// Of a request over TLS, read while the connection is idle.
constexpr size_t kFirstBytes = 2048;

auto Into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

// A field that decides who may ask and comes twice means nothing: the guard refuses it.
std::string FieldOf(const http::fields& fields, http::field name) {
  return fields.count(name) > 1 ? "(given twice)" : std::string(fields[name]);
}

void SetFields(const ApiResponse& response, Message& message) {
  message.set(http::field::server, std::string("gpuadvised/") + kVersion);
  message.set(http::field::content_type, response.content_type);
  message.set(http::field::cache_control, "no-store");
  if (!response.allow.empty()) message.set(http::field::allow, response.allow);
  for (const auto& [name, value] : response.fields) message.set(name, value);
}

// The values of the header `name`, as often as it is there.
std::vector<std::string> ValuesOf(const http::fields& fields, const std::string& name) {
  std::vector<std::string> values;
  const auto [first, last] = fields.equal_range(name);
  for (auto field = first; field != last; ++field) values.emplace_back(field->value());
  return values;
}

// A number below 0 for whom the proxy names: everybody behind it has bounds of their own.
int64_t NumberOfName(const std::string& name) {
  return -1 - static_cast<int64_t>(std::hash<std::string>{}("user " + name) >> 1);
}

asio::awaitable<ApiResponse> CallAnswer(const HttpAnswer& answer, const ApiRequest& request,
                                        const Peer& peer) {
  co_return answer(request, peer);
}

// Whether a body in a coding that is not understood may follow, which would then be read as the
// next request; what a proxy before us understands is not known.
bool HasStrangeCoding(const http::fields& fields, unsigned version) {
  const auto count = fields.count(http::field::transfer_encoding);
  if (count == 0) return false;
  const bool chunked =
      count == 1 && boost::beast::iequals(fields[http::field::transfer_encoding], "chunked");
  return !chunked || version < 11 || fields.count(http::field::content_length) > 0;
}

asio::awaitable<Result<Peer>> CallIdentify(const HttpIdentify& identify, const ApiRequest& header,
                                           const Peer& peer) {
  co_return identify(header, peer);
}

ApiResponse TooManyEvents(const Places& places, int64_t caller) {
  const bool own = places.Of(caller) >= places.most_of_one();
  return PlainError(429, "unavailable",
                    fmt::format("{} event streams {}are open, the maximum {}; close one",
                                own ? places.most_of_one() : places.taken(), own ? "of yours " : "",
                                own ? "of one caller" : "this daemon takes"));
}

ApiResponse TooMany(const Places& places, int64_t caller) {
  const bool own = places.Of(caller) >= places.most_of_one();
  ApiResponse response =
      PlainError(503, "unavailable",
                 fmt::format("{} requests {}are waiting for an answer; try again",
                             own ? places.most_of_one() : places.most(), own ? "of yours " : ""));
  response.fields.emplace_back("Retry-After", "2");
  return response;
}

// The answer to a request that could not be read; status 0: just close.
ApiResponse RefusalOf(error_code error, bool late, const HttpLimits& limits, size_t most_body) {
  if (late) return PlainError(408, "bad_input", "the request took too long to arrive");
  if (error == http::error::body_limit) {
    return PlainError(413, "bad_input",
                      fmt::format("the request body is larger than {} bytes", most_body));
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return PlainError(
        431, "bad_input",
        fmt::format("the request header is larger than {} bytes", limits.max_header_bytes));
  }
  const bool not_http =
      error.category() == http::make_error_code(http::error::bad_method).category() &&
      error != http::error::end_of_stream && error != http::error::partial_message;
  if (not_http)
    return PlainError(400, "bad_input", "the request is not valid HTTP/1.1: " + error.message());
  return {0, "", ""};
}

}  // namespace

HttpSession::HttpSession(HttpService& service, HttpStream stream, Peer peer, Closed closed)
    : service_(service),
      closed_(std::move(closed)),
      stream_(std::move(stream)),
      peer_(std::move(peer)),
      caller_(peer_.caller),
      first_request_by_(service.gate ? quiet_since_ + service.gate->first_request_timeout : kNever),
      buffer_(service.limits.max_header_bytes + (64u << 10)),
      deadline_(stream_.get_executor()),
      wake_(stream_.get_executor()) {}

void HttpSession::Start() {
  auto self = shared_from_this();
  asio::co_spawn(stream_.get_executor(), Run(), [self](const std::exception_ptr& failure) {
    self->ClearDeadline();
    self->closed_(self.get());
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
  wake_.cancel();
  if (idle_) Cut();
}

void HttpSession::Cut() {
  error_code ignored;
  cut_ = true;
  wake_.cancel();
  stream_.lowest_layer().cancel(ignored);
  stream_.lowest_layer().shutdown(asio::socket_base::shutdown_both, ignored);
}

void HttpSession::SetDeadline(milliseconds from_now) {
  late_ = false;
  deadline_.expires_at(std::min(std::chrono::steady_clock::now() + from_now, first_request_by_));
  deadline_.async_wait([self = shared_from_this(), round = ++deadline_round_](error_code error) {
    if (error || round != self->deadline_round_) return;
    self->late_ = true;
    error_code ignored;
    self->stream_.lowest_layer().cancel(ignored);
  });
}

void HttpSession::ClearDeadline() {
  ++deadline_round_;
  deadline_.cancel();
}

asio::awaitable<void> HttpSession::Run() {
  const bool begun = co_await ShakeHands();
  while (begun) {
    const Next next = co_await ServeOne();
    if (next == Next::kEnd) break;
  }
  error_code ignored;
  stream_.lowest_layer().close(ignored);
}

// Whether requests may follow.
asio::awaitable<bool> HttpSession::ShakeHands() {
  if (!stream_.is_secure()) co_return true;
  error_code error;
  SetDeadline(service_.limits.request_timeout);
  co_await stream_.secure().async_handshake(asio::ssl::stream_base::server, Into(error));
  ClearDeadline();
  if (!error) co_return true;
  const bool speaks_http =
      error.category() == asio::error::get_ssl_category() &&
      ERR_GET_REASON(static_cast<unsigned long>(error.value())) == SSL_R_HTTP_REQUEST;
  if (speaks_http) {
    co_await asio::async_write(stream_.lowest_layer(), asio::buffer(kWantsTls), Into(error));
    error_code ignored;
    stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, ignored);
  }
  co_return false;
}

asio::awaitable<HttpSession::Next> HttpSession::ServeOne() {
  error_code error = co_await WaitForRequest();
  if (error) co_return Next::kEnd;
  Parser parser;
  parser.header_limit(static_cast<uint32_t>(service_.limits.max_header_bytes));
  parser.body_limit(service_.limits.max_body_bytes);
  error = co_await ReadHeader(parser);
  if (error) {
    const Next next = co_await RefuseRead(error, service_.limits.max_body_bytes);
    co_return next;
  }
  quiet_since_ = std::chrono::steady_clock::now();
  ApiRequest request = RequestFrom(parser);
  Peer asking = peer_;
  const ApiResponse refusal = co_await Identify(request, asking);
  if (refusal.status != 0) {
    const Next next = co_await Refuse(refusal);
    co_return next;
  }
  const size_t most_bytes = service_.gate && asking.anonymous
                                ? service_.gate->max_strangers_body_bytes
                                : service_.limits.max_body_bytes;
  error = co_await ReadBody(parser, most_bytes);
  if (error) {
    const Next next = co_await RefuseRead(error, most_bytes);
    co_return next;
  }
  first_request_by_ = kNever;
  const unsigned version = parser.get().version();
  const bool keep_alive = parser.get().keep_alive();
  const bool head = request.is_head;
  request.body = std::move(parser.get().body());
  if (request.named.size() == 1) asking.caller = NumberOfName(request.named.front());
  ApiResponse response = co_await AnswerOnWorker(std::move(request), asking);
  if (response.status == 0) co_return Next::kEnd;
  const std::optional<Places::Place> place = TakeEvents(response, asking);
  const bool stay = keep_alive && !draining_ && !response.events;
  error = co_await Write(response, {version, stay, head});
  if (!error && response.events && !head)
    co_await StreamEvents(response.events, response.events_last);
  co_return error || !stay ? Next::kEnd : Next::kGoOn;
}

asio::awaitable<error_code> HttpSession::WaitForRequest() {
  error_code error;
  if (draining_) co_return asio::error::operation_aborted;
  if (buffer_.size() > 0) co_return error;
  idle_ = true;
  SetDeadline(service_.limits.idle_timeout);
  if (stream_.is_secure()) {  // what has been deciphered is not seen on the socket
    const size_t count =
        co_await stream_.async_read_some(buffer_.prepare(kFirstBytes), Into(error));
    buffer_.commit(count);
  } else {
    co_await stream_.lowest_layer().async_wait(asio::socket_base::wait_read, Into(error));
  }
  idle_ = false;
  ClearDeadline();
  co_return error;
}

asio::awaitable<error_code> HttpSession::ReadHeader(Parser& parser) {
  error_code error;
  SetDeadline(service_.limits.request_timeout);
  co_await http::async_read_header(stream_, buffer_, parser, Into(error));
  ClearDeadline();
  if (!error && HasStrangeCoding(parser.get(), parser.get().version())) {
    error = http::error::bad_transfer_encoding;
  }
  co_return error;
}

// What the header says. REQUIRES: the body has not been read, whose trailer fields are put among
// the header's: a proxy may pass those on.
ApiRequest HttpSession::RequestFrom(const Parser& parser) const {
  const http::request<http::string_body>& message = parser.get();
  const BrowserFields browser{FieldOf(message, http::field::host),
                              FieldOf(message, http::field::origin),
                              std::string(message["Sec-Fetch-Site"]),
                              std::string(message["Sec-Fetch-Mode"]),
                              FieldOf(message, http::field::accept_encoding),
                              FieldOf(message, http::field::if_none_match)};
  ApiRequest request{std::string(message.method_string()), std::string(message.target()), "",
                     browser};
  request.is_head = message.method() == http::verb::head;
  if (request.is_head) request.method = "GET";
  const std::optional<TrustedProxy>& proxy = service_.limits.proxy;
  if (peer_.is_proxy && proxy) request.named = ValuesOf(message, proxy->header);
  request.authorization = FieldOf(message, http::field::authorization);
  request.nonce = std::string(message["Gpuadvise-Nonce"]);
  return request;
}

// Whom the request shows, into `asking`, whose connection this is then. Status 0: go on.
asio::awaitable<ApiResponse> HttpSession::Identify(const ApiRequest& header, Peer& asking) {
  constexpr int kGoOn = 0;
  if (!service_.gate || header.authorization.empty()) co_return ApiResponse{kGoOn, "", ""};
  const FairQueue::Slot turn = co_await service_.identity_turns->Take(caller_);
  const Result<Peer> shown = co_await asio::co_spawn(
      service_.gate->identity_workers, CallIdentify(service_.gate->identify, header, peer_),
      asio::use_awaitable);
  if (!shown) co_return NotBelieved(shown.error());
  asking = *shown;
  if (asking.anonymous) co_return ApiResponse{kGoOn, "", ""};
  if (service_.limits.caller_of) asking.caller = service_.limits.caller_of(asking.uid);
  if (caller_ != asking.caller) {
    if (const std::string why = service_.why_no_connection(asking); !why.empty()) {
      co_return PlainError(429, "unavailable", why);
    }
    caller_ = asking.caller;
  }
  first_request_by_ = kNever;
  co_return ApiResponse{kGoOn, "", ""};
}

asio::awaitable<error_code> HttpSession::ReadBody(Parser& parser, size_t most_bytes) {
  error_code error;
  if (parser.is_done()) co_return error;
  parser.body_limit(most_bytes);
  if (parser.content_length().value_or(0) > most_bytes) co_return http::error::body_limit;
  SetDeadline(service_.limits.request_timeout);
  error = co_await SayContinue(parser);
  if (!error) co_await http::async_read(stream_, buffer_, parser, Into(error));
  ClearDeadline();
  co_return error;
}

asio::awaitable<error_code> HttpSession::SayContinue(const Parser& parser) {
  error_code error;
  const bool asked = boost::beast::iequals(parser.get()[http::field::expect], "100-continue");
  if (!asked || parser.get().version() < 11) co_return error;
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  co_await asio::async_write(stream_, asio::buffer(kContinue), Into(error));
  co_return error;
}

// Whether the other end has closed, not only its writing side.
bool HttpSession::PeerIsGone() {
  pollfd there{stream_.lowest_layer().native_handle(), 0, 0};
  return poll(&there, 1, 0) > 0 && (there.revents & (POLLHUP | POLLERR)) != 0;
}

// Status 0: nobody waits for the answer any more.
asio::awaitable<ApiResponse> HttpSession::AnswerOnWorker(ApiRequest request, Peer asking) {
  const bool question = request.method == "POST";
  Places& places = question ? *service_.questions : *service_.waiting;
  const std::optional<Places::Place> place = places.Take(asking.caller);
  if (!place) co_return TooMany(places, asking.caller);
  const bool is_strangers = service_.gate && asking.anonymous;
  FairQueue& turns = is_strangers ? *service_.strangers_turns
                     : question   ? *service_.post_turns
                                  : *service_.turns;
  FairQueue::Slot turn = co_await turns.Take(asking.caller);
  if (PeerIsGone()) co_return ApiResponse{0, "", ""};
  asio::thread_pool& worker = is_strangers ? service_.gate->strangers
                              : question   ? service_.workers.posts
                                           : service_.workers.others;
  ApiResponse response = co_await asio::co_spawn(
      worker, CallAnswer(service_.answer, request, asking), asio::use_awaitable);
  turn.Charge(response.cpu_time);
  co_return response;
}

// The place of a connection that events are to be streamed on; without one another answer.
std::optional<Places::Place> HttpSession::TakeEvents(ApiResponse& response, const Peer& asking) {
  if (!response.events) return std::nullopt;
  std::optional<Places::Place> place = service_.events->Take(asking.caller);
  if (!place) response = TooManyEvents(*service_.events, asking.caller);
  return place;
}

asio::awaitable<error_code> HttpSession::Write(const ApiResponse& response, Written written) {
  const std::string& body = response.Bytes();
  Message message{static_cast<http::status>(response.status), written.version};
  SetFields(response, message);
  message.keep_alive(written.keep_alive);
  message.body() = {body.data(), body.size()};
  if (!response.events) message.prepare_payload();
  http::response_serializer<http::span_body<const char>> serializer{message};
  error_code error;
  SetDeadline(service_.limits.request_timeout);
  if (written.header_only || response.events) {
    co_await http::async_write_header(stream_, serializer, Into(error));
  } else {
    co_await http::async_write(stream_, serializer, Into(error));
  }
  ClearDeadline();
  co_return error;
}

// `lasts`: so long at the most, but for one event_interval; nullopt: as long as the caller stays.
asio::awaitable<void> HttpSession::StreamEvents(std::shared_ptr<EventFeed> feed,
                                                std::optional<std::chrono::seconds> lasts) {
  WakeOn(*feed);
  error_code error;
  const auto end = lasts ? std::chrono::steady_clock::now() + *lasts : kNever;
  while (!error && !peer_ended_ && !draining_ && std::chrono::steady_clock::now() < end) {
    news_ = false;
    error = co_await WriteWaiting(*feed);
    if (error || news_ || peer_ended_ || draining_) continue;
    if (feed->ended()) break;
    error_code woken;
    wake_.expires_after(service_.limits.event_interval);
    co_await wake_.async_wait(Into(woken));
    if (!woken) error = co_await WriteText(kStillHere);
  }
  feed->OnNews({});
}

// News come from any thread, the peer's end from the socket: both end the wait between two events.
void HttpSession::WakeOn(EventFeed& feed) {
  const auto self = shared_from_this();
  feed.OnNews([self] { asio::post(self->stream_.get_executor(), [self] { self->Wake(); }); });
  stream_.lowest_layer().async_wait(asio::socket_base::wait_read, [self](error_code) {
    self->peer_ended_ = true;
    self->Wake();
  });
}

void HttpSession::Wake() {
  news_ = true;
  wake_.cancel();
}

asio::awaitable<error_code> HttpSession::WriteWaiting(EventFeed& feed) {
  error_code error;
  for (SharedText event = feed.Take(); event && !error; event = feed.Take()) {
    error = co_await WriteText(*event);
  }
  co_return error;
}

asio::awaitable<error_code> HttpSession::WriteText(const std::string& text) {
  error_code error;
  SetDeadline(service_.limits.request_timeout);
  co_await asio::async_write(stream_, asio::buffer(text), Into(error));
  ClearDeadline();
  co_return error;
}

asio::awaitable<HttpSession::Next> HttpSession::RefuseRead(error_code error, size_t most_bytes) {
  const ApiResponse refusal = RefusalOf(error, late_, service_.limits, most_bytes);
  if (refusal.status == 0) co_return Next::kEnd;
  const Next next = co_await Refuse(refusal);
  co_return next;
}

// The connection's last answer.
asio::awaitable<HttpSession::Next> HttpSession::Refuse(const ApiResponse& refusal) {
  first_request_by_ = kNever;
  const error_code written = co_await Write(refusal, {});
  if (!written) co_await LingerAndClose();
  co_return Next::kEnd;
}

asio::awaitable<void> HttpSession::LingerAndClose() {
  error_code error;
  stream_.lowest_layer().shutdown(asio::socket_base::shutdown_send, error);
  SetDeadline(kMaxLinger);
  std::array<char, 16384> scrap;
  size_t total = 0;
  while (!error && !late_ && total < kMaxLingerBytes) {
    const size_t count = co_await stream_.async_read_some(asio::buffer(scrap), Into(error));
    total += count;
  }
  ClearDeadline();
}

}  // namespace gpuadvise::daemon
