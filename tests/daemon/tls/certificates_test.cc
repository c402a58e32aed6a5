#include "daemon/tls/certificates.h"

#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/connect_pair.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <ctime>
#include <filesystem>
#include <memory>
#include <optional>

#include "daemon/tls/relay_certs.h"
#include "daemon/tls/tls_context.h"
#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

namespace asio = boost::asio;
using std::chrono::hours;

UnixSeconds Now() { return std::time(nullptr); }

CertifiedKey Authority(const std::string& name = "test authority") {
  return MakeAuthority(name, hours(24 * 100), Now()).value();
}

CertifiedKey Certified(const CertifiedKey& authority, const std::string& name, CertificateUse use,
                       hours valid_for = hours(24 * 60), UnixSeconds now = Now()) {
  return MakeCertificate(authority, {name, use, {"localhost", "127.0.0.1", "::1"}, valid_for}, now)
      .value();
}

struct Outcome {
  std::string relay;   // its name, as the server sees it
  std::string server;  // what the server's end says went wrong
  bool both = false;   // both handshakes are done
};

// A handshake of a server with `server` and a client with `client`, in memory.
Outcome ShakeHands(const TlsContext& server, asio::ssl::context& client) {
  asio::io_context io;
  asio::local::stream_protocol::socket a(io);
  asio::local::stream_protocol::socket b(io);
  asio::local::connect_pair(a, b);
  const TlsContext::Shared context = server.current();
  asio::ssl::stream<asio::local::stream_protocol::socket> here(std::move(a), *context);
  asio::ssl::stream<asio::local::stream_protocol::socket> there(std::move(b), client);
  std::optional<boost::system::error_code> here_says;
  std::optional<boost::system::error_code> there_says;
  here.async_handshake(asio::ssl::stream_base::server, [&](auto error) {
    here_says = error;
    if (error) here.next_layer().close();
  });
  there.async_handshake(asio::ssl::stream_base::client, [&](auto error) {
    there_says = error;
    if (error) there.next_layer().close();
  });
  io.run_for(std::chrono::seconds(10));
  Outcome outcome;
  if (!here_says || !there_says) return outcome;
  outcome.both = !*here_says && !*there_says;
  outcome.server = *here_says ? TlsProblem(*here_says) : "";
  if (!*here_says) outcome.relay = PeerCertificateName(here.native_handle());
  return outcome;
}

class TlsContextTest : public testing::Test {
 protected:
  TlsContextTest() : authority_(Authority()) {
    files_.ca = folder_.Write("ca.crt", authority_.certificate);
    Own(Certified(authority_, "localhost", CertificateUse::kDaemon));
    List(Revoked(authority_, "", "", Now()).value());
  }

  void Own(const CertifiedKey& own) {
    files_.certificate = folder_.Write("daemon.crt", own.certificate);
    files_.key = folder_.Write("daemon.key", own.key);
    std::filesystem::permissions(
        files_.key, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  }
  void List(const std::string& text) { files_.revoked = folder_.Write("revoked.crl", text); }

  std::unique_ptr<TlsContext> Server() {
    return TlsContext::Make(files_, TlsContext::Side::kServer).value();
  }

  asio::ssl::context Client(const CertifiedKey* shown) {
    asio::ssl::context client(asio::ssl::context::tls_client);
    client.add_certificate_authority(asio::buffer(authority_.certificate));
    client.set_verify_mode(asio::ssl::verify_peer);
    if (shown != nullptr) {
      client.use_certificate(asio::buffer(shown->certificate), asio::ssl::context::pem);
      client.use_private_key(asio::buffer(shown->key), asio::ssl::context::pem);
    }
    return client;
  }

  Outcome Try(const CertifiedKey* shown) {
    asio::ssl::context client = Client(shown);
    return ShakeHands(*Server(), client);
  }

  TempFolder folder_;
  CertifiedKey authority_;
  TlsFiles files_;
};

TEST_F(TlsContextTest, KnowsARelayByItsNameAndOthersByNone) {
  const CertifiedKey relay = Certified(authority_, "login1", CertificateUse::kRelay);
  const Outcome known = Try(&relay);
  EXPECT_TRUE(known.both) << known.server;
  EXPECT_EQ(known.relay, "login1");
  const Outcome nobody = Try(nullptr);
  EXPECT_TRUE(nobody.both);
  EXPECT_EQ(nobody.relay, "");
}

TEST_F(TlsContextTest, RefusesWhatIsNotARelaysOwn) {
  const CertifiedKey expired =
      Certified(authority_, "login1", CertificateUse::kRelay, hours(24), Now() - 3 * 24 * 3600);
  EXPECT_FALSE(Try(&expired).both);
  const CertifiedKey other = Certified(Authority(), "login1", CertificateUse::kRelay);
  EXPECT_FALSE(Try(&other).both) << "an authority of the same name";
  const CertifiedKey daemon = Certified(authority_, "login1", CertificateUse::kDaemon);
  EXPECT_FALSE(Try(&daemon).both) << "a daemon's own";
  const CertifiedKey by_relay = Certified(Certified(authority_, "login1", CertificateUse::kRelay),
                                          "x", CertificateUse::kRelay);
  EXPECT_FALSE(Try(&by_relay).both) << "a relay is no authority";
}

TEST_F(TlsContextTest, RefusesARevokedCertificateOnceItsListHasChanged) {
  const CertifiedKey relay = Certified(authority_, "login1", CertificateUse::kRelay);
  const CertifiedKey other = Certified(authority_, "login1", CertificateUse::kRelay);
  const std::unique_ptr<TlsContext> server = Server();
  EXPECT_FALSE(server->Refresh().value()) << "nothing has changed";
  List(Revoked(authority_, Revoked(authority_, "", "", Now()).value(), relay.certificate, Now())
           .value());
  EXPECT_TRUE(server->Refresh().value());
  asio::ssl::context revoked = Client(&relay);
  EXPECT_FALSE(ShakeHands(*server, revoked).both);
  asio::ssl::context good = Client(&other);
  EXPECT_TRUE(ShakeHands(*server, good).both) << "another one of that name";
}

TEST_F(TlsContextTest, SpeaksNothingBelowTls13) {
  asio::ssl::context client = Client(nullptr);
  SSL_CTX_set_max_proto_version(client.native_handle(), TLS1_2_VERSION);
  EXPECT_FALSE(ShakeHands(*Server(), client).both);
}

TEST_F(TlsContextTest, KeepsWhatItHasWhereAFileIsBroken) {
  const std::unique_ptr<TlsContext> server = Server();
  folder_.Write("daemon.crt", "nonsense");
  EXPECT_FALSE(server->Refresh());
  asio::ssl::context client = Client(nullptr);
  EXPECT_TRUE(ShakeHands(*server, client).both);
}

TEST_F(TlsContextTest, NamesTheFileAndTheRemedy) {
  const auto problem = [&](TlsFiles files) {
    const auto made = TlsContext::Make(std::move(files), TlsContext::Side::kServer);
    return made ? std::string() : made.error().message;
  };
  TlsFiles none = files_;
  none.ca = folder_.Path("none.crt");
  EXPECT_NE(problem(none).find("none.crt: No such file"), std::string::npos) << problem(none);
  TlsFiles swapped = files_;
  std::swap(swapped.ca, swapped.revoked);
  EXPECT_NE(problem(swapped).find("is no list of revoked"), std::string::npos) << problem(swapped);
  std::filesystem::permissions(files_.key, std::filesystem::perms::others_read,
                               std::filesystem::perm_options::add);
  EXPECT_NE(problem(files_).find("chmod 600"), std::string::npos) << problem(files_);
}

class RelayCerts : public testing::Test {
 protected:
  std::string Said(RelayCertsRequest request, UnixSeconds now = Now()) {
    request.dir = folder_.Path("tls");
    const auto lines = MakeRelayCerts(request, now);
    if (!lines) return "refused: " + lines.error().message;
    std::string all;
    for (const std::string& line : *lines) all += line + "\n";
    return all;
  }
  std::string Text(const std::string& name) {
    std::ifstream in(folder_.Path("tls/" + name));
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static int RevokedIn(const std::string& list) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> text(
        BIO_new_mem_buf(list.data(), static_cast<int>(list.size())), BIO_free);
    const std::unique_ptr<X509_CRL, decltype(&X509_CRL_free)> read(
        PEM_read_bio_X509_CRL(text.get(), nullptr, nullptr, nullptr), X509_CRL_free);
    if (read == nullptr) return -1;
    return std::max(0, sk_X509_REVOKED_num(X509_CRL_get_REVOKED(read.get())));
  }
  static unsigned ModeOf(const std::string& path) {
    return static_cast<unsigned>(std::filesystem::status(path).permissions());
  }
  TempFolder folder_;
};

TEST_F(RelayCerts, MakesWhatIsMissingAndKeepsWhatIsGood) {
  RelayCertsRequest request;
  request.daemon_hosts = {"centre.example.org", "10.0.0.1", "::1"};
  request.relays = {"login1"};
  const std::string first = Said(request);
  EXPECT_NE(first.find("relays/login1/relay.crt, valid until"), std::string::npos) << first;
  EXPECT_EQ(FactsOf(Text("daemon.crt")).value().hosts, request.daemon_hosts);
  for (const char* key : {"ca.key", "daemon.key", "relays/login1/relay.key"}) {
    EXPECT_EQ(ModeOf(folder_.Path(std::string("tls/") + key)), 0600u) << key;
  }
  const std::string before = Text("daemon.crt") + Text("relays/login1/relay.crt") + Text("ca.crt");
  EXPECT_NE(Said(request).find("kept"), std::string::npos);
  EXPECT_EQ(Text("daemon.crt") + Text("relays/login1/relay.crt") + Text("ca.crt"), before);
}

TEST_F(RelayCerts, RenewsWhatSoonExpiresWithoutBeingToldAgain) {
  RelayCertsRequest request;
  request.daemon_hosts = {"centre"};
  request.relays = {"login1"};
  Said(request);
  const std::string authority = Text("ca.crt");
  const std::string relay = Text("relays/login1/relay.crt");
  const UnixSeconds later = Now() + 340 * 24 * 3600;
  const std::string said = Said({}, later);
  EXPECT_NE(said.find("made"), std::string::npos) << said;
  EXPECT_EQ(Text("ca.crt"), authority);
  EXPECT_NE(Text("relays/login1/relay.crt"), relay);
  EXPECT_GT(FactsOf(Text("daemon.crt")).value().expires_at, later + 300 * 24 * 3600);
  EXPECT_EQ(FactsOf(Text("daemon.crt")).value().hosts, std::vector<std::string>{"centre"});
}

TEST_F(RelayCerts, RevokesAlsoTheCertificatesThatWereRenewed) {
  RelayCertsRequest request;
  request.relays = {"login1", "login2"};
  Said(request);
  const UnixSeconds later = Now() + 340 * 24 * 3600;
  Said({}, later);
  EXPECT_EQ(RevokedIn(Text("revoked.crl")), 0);
  RelayCertsRequest revoke;
  revoke.revoke = {"login1"};
  Said(revoke, later);
  EXPECT_EQ(RevokedIn(Text("revoked.crl")), 2) << "the present one, and the one before";
  EXPECT_FALSE(std::filesystem::exists(folder_.Path("tls/replaced/login1")));
  EXPECT_TRUE(std::filesystem::exists(folder_.Path("tls/replaced/login2")));
}

TEST_F(RelayCerts, RefusesNamesThatLeadElsewhere) {
  for (const char* name : {"..", "../x", "a/b", "", "-x", ".hidden", "a b", "x\ny"}) {
    RelayCertsRequest request;
    request.relays = {name};
    EXPECT_NE(Said(request).find("refused: "), std::string::npos) << name;
  }
  RelayCertsRequest none;
  none.revoke = {"login9"};
  EXPECT_NE(Said(none).find("no certificate of login9"), std::string::npos);
}

TEST_F(RelayCerts, AnAuthorityWithoutItsKeyIsSaid) {
  Said({});
  std::filesystem::remove(folder_.Path("tls/ca.key"));
  EXPECT_NE(Said({}).find("only one of ca.crt and ca.key"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
