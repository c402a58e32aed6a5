// The bytes of one connection: a socket as it is, or TLS over it. An AsyncReadStream and
// AsyncWriteStream of Asio, so that whoever reads and writes need not know which.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <memory>
#include <optional>
#include <utility>

namespace gpuadvise::daemon {

using HttpSocket = boost::asio::generic::stream_protocol::socket;

class HttpStream {
 public:
  using executor_type = boost::asio::any_io_executor;
  using lowest_layer_type = HttpSocket;
  using Secure = boost::asio::ssl::stream<HttpSocket>;

  explicit HttpStream(HttpSocket socket) : plain_(std::move(socket)) {}

  // TLS, of which the handshake is still to come.
  HttpStream(HttpSocket socket, std::shared_ptr<boost::asio::ssl::context> context)
      : context_(std::move(context)), secure_(std::in_place, std::move(socket), *context_) {}

  bool is_secure() const { return secure_.has_value(); }
  // REQUIRES: is_secure().
  Secure& secure() { return *secure_; }

  // Below TLS.
  HttpSocket& lowest_layer() { return secure_ ? secure_->next_layer() : *plain_; }
  const HttpSocket& lowest_layer() const { return secure_ ? secure_->next_layer() : *plain_; }

  executor_type get_executor() { return lowest_layer().get_executor(); }

  template <typename Buffers, typename Token>
  auto async_read_some(const Buffers& buffers, Token&& token) {
    if (secure_) return secure_->async_read_some(buffers, std::forward<Token>(token));
    return plain_->async_read_some(buffers, std::forward<Token>(token));
  }

  template <typename Buffers, typename Token>
  auto async_write_some(const Buffers& buffers, Token&& token) {
    if (secure_) return secure_->async_write_some(buffers, std::forward<Token>(token));
    return plain_->async_write_some(buffers, std::forward<Token>(token));
  }

 private:
  std::optional<HttpSocket> plain_;
  std::shared_ptr<boost::asio::ssl::context> context_;
  std::optional<Secure> secure_;
};

}  // namespace gpuadvise::daemon
