#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <filesystem>
#include <optional>

#include "daemon/http/listening.h"
#include "daemon/http/server_certificate.h"
#include "tests/daemon/http/self_signed.h"
#include "tests/daemon/http/server_under_test.h"
#include "tests/daemon/patience.h"

namespace gpuadvise::daemon {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

// A blocking client over TLS; what it reads is "" once the connection has ended.
class TlsPeer {
 public:
  TlsPeer(const std::string& port, const std::string& from, int max_version = TLS1_3_VERSION)
      : context_(asio::ssl::context::tls_client), stream_(io_, context_) {
    SSL_CTX_set_max_proto_version(context_.native_handle(), max_version);
    tcp::socket& socket = stream_.next_layer();
    socket.open(tcp::v4());
    socket.bind({asio::ip::make_address(from), 0});
    socket.connect(
        {asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(std::stoi(port))});
    SSL_set_max_proto_version(stream_.native_handle(), max_version);
    boost::system::error_code error;
    stream_.handshake(asio::ssl::stream_base::client, error);
    shook_hands_ = !error;
  }

  bool shook_hands() const { return shook_hands_; }

  std::string Ask(const std::string& request) {
    boost::system::error_code error;
    asio::write(stream_, asio::buffer(request), error);
    std::string answer;
    while (!error && !IsWhole(answer)) {
      std::array<char, 4096> bytes;
      answer.append(bytes.data(), stream_.read_some(asio::buffer(bytes), error));
    }
    return answer;
  }

  // Waits until the other end closes.
  bool Ends() {
    std::array<char, 100> bytes;
    boost::system::error_code error;
    stream_.read_some(asio::buffer(bytes), error);
    return static_cast<bool>(error);
  }

 private:
  static bool IsWhole(const std::string& answer) {
    const size_t end = answer.find("\r\n\r\n");
    const size_t length = answer.find("Content-Length: ");
    return end != std::string::npos && length != std::string::npos &&
           answer.size() >= end + 4 + std::stoul(answer.substr(length + 16));
  }

  asio::io_context io_;
  asio::ssl::context context_;
  asio::ssl::stream<tcp::socket> stream_;
  bool shook_hands_ = false;
};

std::string Ask(const std::string& fields, size_t body_bytes = 0) {
  return "POST /v1/x HTTP/1.1\r\nHost: x\r\n" + fields +
         "Content-Length: " + std::to_string(body_bytes) + "\r\n\r\n" +
         std::string(body_bytes, 'x');
}

// "Bearer 1000" is uid 1000; the answer says who asked.
class HttpGateTest : public testing::Test {
 protected:
  void Serve() {
    TcpListener listener = BindTcp("127.0.0.1:0").value();
    port_ = listener.address.substr(listener.address.rfind(':') + 1);
    server_.emplace(
        io_, HttpWorkers{workers_, workers_}, limits_,
        [](const ApiRequest& request, const Peer& peer) {
          return ApiResponse{
              200, std::to_string(peer.uid) + " sent " + std::to_string(request.body.size()), ""};
        },
        gate_);
    server_->Listen(std::move(listener.descriptor), HttpServer::Callers::kAnonymous);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~HttpGateTest() override {
    workers_.join();
    io_.stop();
    if (thread_.joinable()) thread_.join();
  }

  static Result<Peer> Identify(const ApiRequest& header, const Peer& peer) {
    if (header.authorization.find("Bearer ") != 0) return BadInput("not known", "");
    Peer user = peer;
    user.uid = user.caller = std::stoll(header.authorization.substr(7));
    user.anonymous = false;
    return user;
  }

  TlsPeer From(const std::string& address) { return TlsPeer(port_, address); }
  static std::string As(int64_t uid, size_t body_bytes = 0) {
    return Ask("Authorization: Bearer " + std::to_string(uid) + "\r\n", body_bytes);
  }

  TempFolder folder_;
  SelfSigned files_{folder_};
  ServerCertificate certificate_ = ServerCertificate::Load(files_.certificate, files_.key).value();
  asio::io_context io_{1};
  asio::thread_pool workers_{2};
  HttpLimits limits_;
  HttpGate gate_{certificate_, Identify, workers_, workers_};
  std::optional<HttpServer> server_;
  std::string port_;
  std::thread thread_;
};

TEST_F(HttpGateTest, EachRequestIsOfWhomItShows) {
  Serve();
  TlsPeer peer = From("127.0.0.1");
  EXPECT_TRUE(peer.Ask(As(1000)).ends_with("1000 sent 0"));
  EXPECT_TRUE(peer.Ask(Ask("")).ends_with("-1 sent 0")) << "nobody, though a user has asked before";
  EXPECT_TRUE(peer.Ask(As(1001)).ends_with("1001 sent 0"));
}

TEST_F(HttpGateTest, WhatIsNotBelievedIsRefusedBeforeItsBodyIsRead) {
  Serve();
  TlsPeer peer = From("127.0.0.1");
  const std::string refused =
      peer.Ask("POST / HTTP/1.1\r\nAuthorization: Basic x\r\nContent-Length: 1000\r\n\r\n");
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 401")) << refused;
  EXPECT_NE(refused.find("WWW-Authenticate: Bearer"), std::string::npos) << refused;
  const std::string twice =
      From("127.0.0.1").Ask(Ask("Authorization: Bearer 1000\r\nAuthorization: Bearer 1001\r\n"));
  EXPECT_TRUE(twice.starts_with("HTTP/1.1 401")) << twice;
}

TEST_F(HttpGateTest, AStrangersBodyIsSmallAndAUsersIsNot) {
  Serve();
  EXPECT_TRUE(From("127.0.0.1").Ask(Ask("", 100'000)).starts_with("HTTP/1.1 413"));
  EXPECT_TRUE(From("127.0.0.1").Ask(As(1000, 100'000)).ends_with("1000 sent 100000"));
}

TEST_F(HttpGateTest, ASilentConnectionEndsSoon) {
  gate_.first_request_timeout = std::chrono::milliseconds(300);
  Serve();
  TlsPeer silent = From("127.0.0.1");
  EXPECT_TRUE(silent.shook_hands());
  EXPECT_TRUE(silent.Ends());
  asio::io_context io;
  tcp::socket half(io);  // without a handshake
  half.connect(
      {asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(std::stoi(port_))});
  boost::system::error_code error;
  char byte = 0;
  half.read_some(asio::buffer(&byte, 1), error);
  EXPECT_TRUE(error);
}

TEST_F(HttpGateTest, ANewConnectionGetsTheQuietestPlaceOfTheAddressWithTheMost) {
  gate_.max_strangers = 4;
  Serve();
  TlsPeer alone = From("127.0.0.2");
  EXPECT_NE(alone.Ask(Ask("")), "");
  TlsPeer first = From("127.0.0.1");
  EXPECT_NE(first.Ask(Ask("")), "");
  TlsPeer quietest = From("127.0.0.1");
  EXPECT_NE(quietest.Ask(Ask("")), "");
  TlsPeer third = From("127.0.0.1");
  EXPECT_NE(third.Ask(Ask("")), "");
  EXPECT_NE(first.Ask(Ask("")), "");
  TlsPeer next = From("127.0.0.3");
  EXPECT_NE(next.Ask(Ask("")), "");
  EXPECT_TRUE(quietest.Ends());
  for (TlsPeer* peer : {&alone, &first, &third, &next}) EXPECT_NE(peer->Ask(Ask("")), "");
}

TEST_F(HttpGateTest, AUsersConnectionIsNotAmongTheStrangers) {
  gate_.max_strangers = 1;
  Serve();
  TlsPeer user = From("127.0.0.1");
  EXPECT_NE(user.Ask(As(1000)), "");
  TlsPeer stranger = From("127.0.0.1");
  EXPECT_NE(stranger.Ask(Ask("")), "");
  TlsPeer next = From("127.0.0.1");
  EXPECT_NE(next.Ask(Ask("")), "");
  EXPECT_TRUE(stranger.Ends());
  EXPECT_TRUE(user.Ask(As(1000)).ends_with("1000 sent 0"));
}

TEST_F(HttpGateTest, AnAddressHasSoManyStrangersAndAUserSoManyConnections) {
  gate_.max_strangers_per_address = 2;
  limits_.max_connections_per_user = 1;
  Serve();
  TlsPeer first = From("127.0.0.1");
  TlsPeer second = From("127.0.0.1");
  EXPECT_FALSE(From("127.0.0.1").shook_hands());
  EXPECT_TRUE(From("127.0.0.2").shook_hands());
  EXPECT_NE(first.Ask(As(1000)), "");
  const std::string refused = second.Ask(As(1000));
  EXPECT_TRUE(refused.starts_with("HTTP/1.1 429")) << refused;
  EXPECT_NE(refused.find("max_connections_per_user"), std::string::npos) << refused;
  EXPECT_TRUE(From("127.0.0.1").Ask(As(1001)).ends_with("1001 sent 0"));
}

TEST_F(HttpGateTest, NothingBelowTls13IsSpoken) {
  Serve();
  EXPECT_FALSE(TlsPeer(port_, "127.0.0.1", TLS1_2_VERSION).shook_hands());
}

TEST_F(HttpGateTest, ARenewedCertificateIsTakenAndABrokenOneIsNot) {
  EXPECT_FALSE(certificate_.Refresh().value()) << "nothing has changed";
  const ServerCertificate::Context before = certificate_.context();
  folder_.Write("daemon.crt", "nonsense");
  const auto broken = certificate_.Refresh();
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("daemon.crt is not a certificate"), std::string::npos);
  EXPECT_EQ(certificate_.context(), before);
  const SelfSigned renewed(folder_);
  EXPECT_TRUE(certificate_.Refresh().value());
  EXPECT_NE(certificate_.context(), before);
}

TEST_F(HttpGateTest, AKeyThatOthersMayReadIsRefused) {
  std::filesystem::permissions(files_.key, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  const auto loaded = ServerCertificate::Load(files_.certificate, files_.key);
  ASSERT_FALSE(loaded);
  EXPECT_NE(loaded.error().message.find("chmod 600"), std::string::npos);
  const auto none = ServerCertificate::Load(folder_.Path("none.crt"), files_.key);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("none.crt: No such file"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
