#include "daemon/collect/rest_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <optional>
#include <string_view>
#include <utility>

namespace gpuadvise::collect {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using StreamSocket = asio::generic::stream_protocol::socket;
using asio::use_awaitable;

constexpr const char* kUrlHelp =
    "write unix:/run/slurmrestd.sock, http://HOST:6820 or https://HOST:6820";
constexpr size_t kMostHeaderBytes = 64 * 1024;

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// What goes into a header line must not begin another.
bool IsOneWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

http::request<http::empty_body> RequestOf(const RestCall& call) {
  http::request<http::empty_body> request(http::verb::get, call.address.prefix + call.target, 11);
  const bool is_local = call.address.kind == RestAddress::Kind::kUnix;
  request.set(http::field::host,
              is_local ? "localhost" : call.address.host + ":" + call.address.port);
  request.set(http::field::accept, "application/json");
  request.set(http::field::user_agent, "gpuadvise");
  request.set(http::field::connection, "close");
  if (!call.token.empty()) request.set("X-SLURM-USER-TOKEN", call.token);
  if (!call.user.empty()) request.set("X-SLURM-USER-NAME", call.user);
  return request;
}

template <typename Stream>
asio::awaitable<RestAnswer> Exchange(Stream& stream, const RestCall& call) {
  const http::request<http::empty_body> request = RequestOf(call);
  co_await http::async_write(stream, request, use_awaitable);
  boost::beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(call.most_bytes);
  parser.header_limit(kMostHeaderBytes);
  co_await http::async_read(stream, buffer, parser, use_awaitable);
  RestAnswer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  answer.location = parser.get()[http::field::location];
  answer.body = std::move(parser.get().body());
  co_return answer;
}

asio::awaitable<void> Connect(StreamSocket& socket, const RestAddress& address) {
  if (address.kind == RestAddress::Kind::kUnix) {
    const asio::local::stream_protocol::endpoint place(address.path);
    co_await socket.async_connect(place, use_awaitable);
    co_return;
  }
  asio::ip::tcp::resolver resolver(socket.get_executor());
  const auto places = co_await resolver.async_resolve(address.host, address.port, use_awaitable);
  boost::system::error_code error = asio::error::host_not_found;
  for (const auto& place : places) {
    boost::system::error_code ignored;
    socket.close(ignored);
    const asio::generic::stream_protocol::endpoint endpoint(place.endpoint());
    co_await socket.async_connect(endpoint, asio::redirect_error(use_awaitable, error));
    if (!error) co_return;
  }
  throw boost::system::system_error(error);
}

asio::awaitable<RestAnswer> ExchangeSecurely(StreamSocket& socket, const RestCall& call) {
  asio::ssl::context context(asio::ssl::context::tls_client);
  context.set_options(asio::ssl::context::no_tlsv1 | asio::ssl::context::no_tlsv1_1);
  if (call.ca_file.empty()) {
    context.set_default_verify_paths();
  } else {
    context.load_verify_file(call.ca_file);
  }
  asio::ssl::stream<StreamSocket&> stream(socket, context);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification(call.address.host));
  SSL_set_tlsext_host_name(stream.native_handle(), call.address.host.c_str());
  co_await stream.async_handshake(asio::ssl::stream_base::client, use_awaitable);
  const RestAnswer answer = co_await Exchange(stream, call);
  co_return answer;
}

asio::awaitable<void> Ask(StreamSocket& socket, const RestCall& call,
                          std::optional<RestAnswer>& answer) {
  co_await Connect(socket, call.address);
  if (call.address.kind == RestAddress::Kind::kHttps) {
    answer = co_await ExchangeSecurely(socket, call);
  } else {
    answer = co_await Exchange(socket, call);
  }
}

std::string NameOf(const RestAddress& address) {
  using Kind = RestAddress::Kind;
  if (address.kind == Kind::kUnix) return "unix:" + address.path;
  return fmt::format("{}://{}:{}", address.kind == Kind::kHttp ? "http" : "https", address.host,
                     address.port);
}

// Why a connection or an answer failed, in words.
std::string WhyOf(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const boost::system::system_error& error) {
    const boost::system::error_code& code = error.code();
    if (code == http::error::end_of_stream || code == http::error::partial_message ||
        code == asio::error::eof || code == asio::ssl::error::stream_truncated) {
      return "ended in the middle of its answer";
    }
    if (code == http::error::body_limit) return "answers with more than is read";
    if (code.category() == make_error_code(http::error::bad_version).category()) {
      return fmt::format("does not answer in HTTP ({})", code.message());
    }
    return fmt::format("cannot be asked: {}", code.message());
  } catch (const std::exception& error) {
    return fmt::format("cannot be asked: {}", error.what());
  }
}

}  // namespace

Result<RestAddress> ParseRestAddress(const std::string& url) {
  const auto refuse = [&](const char* why) {
    return BadInput(fmt::format("\"{}\" is no address of slurmrestd{}; {}", url, why, kUrlHelp));
  };
  RestAddress address;
  std::string_view rest = url;
  if (rest.starts_with("unix:")) {
    address.path = rest.substr(5);
    if (!address.path.starts_with('/')) return refuse("");
    if (address.path.size() > 107) return refuse(": its path is longer than a socket's may be");
    return address;
  }
  const bool is_secure = rest.starts_with("https://");
  if (!is_secure && !rest.starts_with("http://")) return refuse("");
  address.kind = is_secure ? RestAddress::Kind::kHttps : RestAddress::Kind::kHttp;
  rest.remove_prefix(is_secure ? 8 : 7);
  const size_t slash = std::min(rest.find('/'), rest.size());
  address.prefix = rest.substr(slash);
  while (address.prefix.ends_with('/')) address.prefix.pop_back();
  rest = rest.substr(0, slash);
  const size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return refuse("");
  const size_t colon = rest.find(':', bracket);
  address.host = bracket > 0 ? rest.substr(1, bracket - 1) : rest.substr(0, colon);
  address.port = colon != std::string_view::npos ? rest.substr(colon + 1)
                                                 : std::string_view(is_secure ? "443" : "80");
  if (!IsPort(address.port)) return refuse(": its port is no number");
  if (address.host.empty() || address.host.find('@') != std::string::npos) return refuse("");
  if (!IsOneWord(address.host) || !IsOneWord(address.prefix)) return refuse("");
  return address;
}

Result<RestAnswer> AskRest(const RestCall& call) {
  const std::string name = "slurmrestd at " + NameOf(call.address);
  if (!IsOneWord(call.token) || !IsOneWord(call.user)) {
    return BadInput("the token or the user's name for " + name + " has blanks or odd characters");
  }
  std::optional<RestAnswer> answer;
  std::exception_ptr failure;
  bool ended = false;
  asio::io_context context(1);
  StreamSocket socket(context);
  asio::co_spawn(context, Ask(socket, call, answer), [&](std::exception_ptr thrown) {
    failure = std::move(thrown);
    ended = true;
  });
  context.run_for(call.deadline);
  if (!ended) {
    boost::system::error_code ignored;
    socket.close(ignored);
    return Fail(ErrorCode::kUnavailable,
                fmt::format("{} does not answer {} within {:g} s", name, call.target,
                            static_cast<double>(call.deadline.count()) / 1000));
  }
  if (failure) return Fail(ErrorCode::kUnavailable, name + " " + WhyOf(failure));
  return std::move(*answer);
}

}  // namespace gpuadvise::collect
