#include "daemon/link/daemon_link.h"

#include <fmt/format.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "daemon/tls/web_address.h"

namespace gpuadvise::daemon {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using asio::use_awaitable;
using LinkSocket = asio::local::stream_protocol::socket;

template <typename Stream>
asio::awaitable<LinkAnswer> Exchange(Stream& stream,
                                     const http::request<http::string_body>& request) {
  co_await http::async_write(stream, request, use_awaitable);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(DaemonLink::kMostAnswerBytes);
  co_await http::async_read(stream, buffer, parser, use_awaitable);
  LinkAnswer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  answer.body = std::move(parser.get().body());
  co_return answer;
}

asio::awaitable<void> AskOnSocket(LinkSocket& socket, const std::string& path,
                                  const http::request<http::string_body>& request,
                                  std::optional<LinkAnswer>& answer) {
  const asio::local::stream_protocol::endpoint place(path);
  co_await socket.async_connect(place, use_awaitable);
  answer = co_await Exchange(socket, request);
}

asio::awaitable<void> AskOverTls(asio::io_context& io, asio::ssl::context& context,
                                 const WebAddress& address,
                                 const http::request<http::string_body>& request,
                                 std::optional<LinkAnswer>& answer) {
  using tcp = asio::ip::tcp;
  tcp::resolver resolver(io);
  const auto places = co_await resolver.async_resolve(address.host, address.port, use_awaitable);
  asio::ssl::stream<tcp::socket> stream(io, context);
  co_await asio::async_connect(stream.next_layer(), places, use_awaitable);
  stream.set_verify_callback(asio::ssl::host_name_verification(address.host));
  SSL_set_tlsext_host_name(stream.native_handle(), address.host.c_str());
  co_await stream.async_handshake(asio::ssl::stream_base::client, use_awaitable);
  answer = co_await Exchange(stream, request);
}

}  // namespace

Result<LinkAnswer> DaemonLink::Ask(const std::string& method, const std::string& target,
                                   const std::string& body,
                                   std::chrono::milliseconds patience) const {
  http::request<http::string_body> request(http::string_to_verb(method), target, 11);
  request.set(http::field::host, "localhost");
  request.set(http::field::user_agent, "gpuadvised");
  request.set(http::field::connection, "close");
  if (!body.empty()) request.set(http::field::content_type, "application/json");
  request.body() = body;
  request.prepare_payload();
  std::string problem =
      fmt::format("no answer within {} s", static_cast<double>(patience.count()) / 1000);
  std::optional<LinkAnswer> answer;
  const auto ended = [&problem](const std::exception_ptr& failure) {
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const boost::system::system_error& error) {
      problem = TlsProblem(error.code());
    } catch (const std::exception& error) {
      problem = error.what();
    }
  };
  std::unique_ptr<TlsContext> tls;  // outlives what uses it
  std::optional<WebAddress> address;
  if (!place_.starts_with('/')) {
    Result<WebAddress> parsed = ParseWebAddress(place_);
    if (!parsed) return tl::unexpected<Error>(std::move(parsed.error()));
    Result<std::unique_ptr<TlsContext>> made = TlsContext::Make(files_, TlsContext::Side::kClient);
    if (!made) return tl::unexpected<Error>(std::move(made.error()));
    tls = std::move(*made);
    address = std::move(*parsed);
    request.set(http::field::host, address->HostField());
  }
  try {
    const TlsContext::Shared context = tls ? tls->current() : nullptr;
    asio::io_context io(1);
    LinkSocket socket(io);
    if (address) {
      asio::co_spawn(io, AskOverTls(io, *context, *address, request, answer), ended);
    } else {
      asio::co_spawn(io, AskOnSocket(socket, place_, request, answer), ended);
    }
    io.run_for(patience);
  } catch (const std::exception& error) {  // a path too long for a socket
    problem = error.what();
  }
  if (answer) return std::move(*answer);
  return Fail(ErrorCode::kUnavailable, fmt::format("the daemon at {}: {}", place_, problem));
}

}  // namespace gpuadvise::daemon
