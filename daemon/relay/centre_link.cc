#include "daemon/relay/centre_link.h"

#include <fmt/format.h>
#include <openssl/ssl.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <string_view>
#include <utility>

#include "common/base/words.h"
#include "daemon/http/frame.h"

namespace gpuadvise::daemon {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using std::chrono::steady_clock;
using tcp = asio::ip::tcp;

struct CentreLink::Connection {
  Connection(asio::io_context& io, TlsContext::Shared with, const WebAddress& leads_to)
      : context(std::move(with)), stream(io, *context), address(&leads_to) {}

  TlsContext::Shared context;
  beast::ssl_stream<beast::tcp_stream> stream;
  beast::flat_buffer buffer;
  const WebAddress* address;
  Moment used_at = {};
  bool used = false;
  bool answered = false;  // by a byte, since the last request
};

namespace {

auto To(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

constexpr std::string_view kEventStream = "text/event-stream";

http::request<http::string_body> MessageFor(const ApiRequest& request, const Peer& peer,
                                            const WebAddress& address, const std::string& host) {
  http::request<http::string_body> message(http::verb::unknown, request.target, 11);
  message.method_string(request.method);
  message.set(http::field::host, address.HostField());
  message.set(kRelayedUidField, std::to_string(peer.uid));
  if (peer.caller != peer.uid) message.set(kRelayedCallerField, std::to_string(peer.caller));
  if (!host.empty()) message.set(kRelayedHostField, host);
  if (!request.browser.accept_encoding.empty()) {
    message.set(http::field::accept_encoding, request.browser.accept_encoding);
  }
  if (!request.browser.if_none_match.empty()) {
    message.set(http::field::if_none_match, request.browser.if_none_match);
  }
  message.body() = request.body;
  message.prepare_payload();
  return message;
}

// What this end writes itself.
bool IsOwnField(http::field name) {
  switch (name) {
    case http::field::connection:
    case http::field::keep_alive:
    case http::field::transfer_encoding:
    case http::field::content_length:
    case http::field::content_type:
    case http::field::cache_control:
    case http::field::server:
    case http::field::allow:
      return true;
    default:
      return false;
  }
}

template <typename Parsed>
ApiResponse HeaderOf(const Parsed& message) {
  ApiResponse response;
  response.status = static_cast<int>(message.result_int());
  response.content_type = std::string(message[http::field::content_type]);
  response.allow = std::string(message[http::field::allow]);
  for (const auto& field : message) {
    if (IsOwnField(field.name())) continue;
    response.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  return response;
}

std::string WordsOf(const error_code& error) {
  if (error == beast::error::timeout) return "no answer in time";
  if (error == http::error::end_of_stream || error == asio::ssl::error::stream_truncated) {
    return "it closed the connection before it answered";
  }
  if (error == http::error::body_limit) return "its answer is larger than 64 MiB";
  return TlsProblem(error);
}

bool IsElsewhere(int status) { return status == 303 || status == 307; }

}  // namespace

CentreLink::CentreLink(asio::io_context& io, std::vector<WebAddress> addresses,
                       const TlsContext& tls, std::string host, CentreTimes times)
    : io_(io), addresses_(std::move(addresses)), tls_(tls), host_(std::move(host)), times_(times) {}

CentreLink::~CentreLink() = default;

void CentreLink::Drop() { idle_.clear(); }

CentreLink::Held CentreLink::TakeIdle(const WebAddress& address) {
  const Moment oldest = steady_clock::now() - times_.idle;
  while (!idle_.empty() && idle_.front()->used_at < oldest) idle_.pop_front();
  for (auto held = idle_.rbegin(); held != idle_.rend(); ++held) {
    if ((*held)->address != &address) continue;
    Held taken = std::move(*held);
    idle_.erase(std::next(held).base());
    return taken;
  }
  return nullptr;
}

asio::awaitable<CentreLink::Held> CentreLink::Connect(const WebAddress& address,
                                                      std::string& problem) {
  auto made = std::make_unique<Connection>(io_, tls_.current(), address);
  auto& transport = beast::get_lowest_layer(made->stream);
  error_code error;
  // A name that waits behind others is given up; one that the system looks up already is not: its
  // resolver has its own end (resolv.conf).
  const auto resolver = std::make_shared<tcp::resolver>(io_);
  asio::steady_timer late(io_, times_.connect);
  late.async_wait([resolver](error_code stopped) {
    if (!stopped) resolver->cancel();
  });
  const tcp::resolver::results_type places =
      co_await resolver->async_resolve(address.host, address.port, To(error));
  late.cancel();
  if (!error) {
    transport.expires_after(times_.connect);
    co_await transport.async_connect(places, To(error));
  }
  if (!error) {
    transport.socket().set_option(tcp::no_delay(true), error);
    made->stream.set_verify_callback(asio::ssl::host_name_verification(address.host));
    SSL_set_tlsext_host_name(made->stream.native_handle(), address.host.c_str());
    co_await made->stream.async_handshake(asio::ssl::stream_base::client, To(error));
  }
  if (!error) co_return made;
  problem = WordsOf(error);
  co_return nullptr;
}

asio::awaitable<error_code> CentreLink::Exchange(Held& connection, const ApiRequest& request,
                                                 const Peer& peer, ApiResponse& response) {
  auto& stream = connection->stream;
  auto& transport = beast::get_lowest_layer(stream);
  error_code error;
  const auto message = MessageFor(request, peer, *connection->address, host_);
  transport.expires_after(times_.answer);
  connection->answered = false;
  co_await http::async_write(stream, message, To(error));
  http::response_parser<http::string_body> parser;
  parser.body_limit(kMostAnswerBytes);
  parser.header_limit(64u << 10);
  // A daemon that refuses a certificate says so instead of reading.
  error_code read;
  const size_t count =
      co_await http::async_read_header(stream, connection->buffer, parser, To(read));
  connection->answered = count > 0;
  if (read) co_return error ? error : read;
  response = HeaderOf(parser.get());
  if (response.content_type == kEventStream && response.status == 200) {
    response.events = std::make_shared<EventFeed>();
    std::weak_ptr<EventFeed> feed = response.events;
    asio::co_spawn(io_, PassEvents(std::move(connection), std::move(feed)), asio::detached);
    co_return error_code();
  }
  co_await http::async_read(stream, connection->buffer, parser, To(read));
  if (read) co_return read;
  response.body = std::move(parser.get().body());
  connection->used_at = steady_clock::now();
  connection->used = true;
  transport.expires_never();
  if (parser.get().keep_alive() && idle_.size() < kMostIdle) idle_.push_back(std::move(connection));
  co_return error_code();
}

// Each event as it came, until either end has gone.
asio::awaitable<void> CentreLink::PassEvents(Held connection, std::weak_ptr<EventFeed> feed) {
  constexpr size_t kMostEventBytes = 1u << 20;
  auto& stream = connection->stream;
  std::string waiting(static_cast<const char*>(connection->buffer.data().data()),
                      connection->buffer.size());
  std::string bytes(16u << 10, '\0');
  error_code error;
  while (!error && waiting.size() < kMostEventBytes) {
    for (size_t end = waiting.find("\n\n"); end != std::string::npos; end = waiting.find("\n\n")) {
      const std::shared_ptr<EventFeed> listener = feed.lock();
      if (!listener) co_return;
      listener->Put(std::make_shared<const std::string>(waiting.substr(0, end + 2)));
      waiting.erase(0, end + 2);
    }
    beast::get_lowest_layer(stream).expires_after(times_.silence);
    const size_t count = co_await stream.async_read_some(asio::buffer(bytes), To(error));
    waiting.append(bytes, 0, count);
    if (feed.expired()) co_return;
  }
  if (const std::shared_ptr<EventFeed> listener = feed.lock()) listener->End();
}

// nullopt: nobody answers there, or a standby does; problem_ says which.
asio::awaitable<std::optional<ApiResponse>> CentreLink::AskOne(const WebAddress& address,
                                                               const ApiRequest& request,
                                                               const Peer& peer) {
  for (;;) {
    Held connection = TakeIdle(address);
    if (!connection) connection = co_await Connect(address, problem_);
    if (!connection) co_return std::nullopt;
    const bool was_used = connection->used;
    ApiResponse response;
    const error_code error = co_await Exchange(connection, request, peer, response);
    if (!error && IsElsewhere(response.status)) {
      problem_ = "it stands by for another daemon";
      co_return std::nullopt;
    }
    if (!error) {
      problem_.clear();
      answered_at_ = steady_clock::now();
      co_return response;
    }
    // One that was kept may have been closed meanwhile, which says nothing of the daemon.
    if (was_used && !connection->answered && error != beast::error::timeout) {
      Drop();
      continue;
    }
    problem_ = WordsOf(error);
    co_return std::nullopt;
  }
}

ApiResponse CentreLink::Unreachable() const {
  const std::string last =
      answered_at_
          ? fmt::format(
                "it last answered {} ago",
                DurationInWords(
                    std::chrono::duration<double>(steady_clock::now() - *answered_at_).count()))
          : std::string("it has not answered since this relay started");
  ApiResponse response =
      PlainError(503, "unavailable",
                 fmt::format("the central gpuadvised at {} cannot be asked: {}; {}",
                             address().Text(), problem_, last));
  response.fields.emplace_back("Retry-After", "5");
  return response;
}

asio::awaitable<ApiResponse> CentreLink::Ask(const ApiRequest& request, const Peer& peer) {
  const size_t first = current_;
  for (size_t tried = 0; tried < addresses_.size(); ++tried) {
    const size_t which = (first + tried) % addresses_.size();
    std::optional<ApiResponse> response = co_await AskOne(addresses_[which], request, peer);
    if (!response) continue;
    current_ = which;
    if (response->status != 401) co_return std::move(*response);
    // That is between the daemon and this relay: no caller can do anything about it.
    problem_ = "it does not take this relay's certificate; its log and remote.relays say why";
    break;
  }
  co_return Unreachable();
}

}  // namespace gpuadvise::daemon
