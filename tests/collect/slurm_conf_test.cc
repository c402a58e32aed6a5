#include "daemon/collect/slurm_conf.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace gpuadvise::collect {
namespace {

bool Never() { return false; }
bool Always() { return true; }

// A name server that answers one question: with an SRV record, or that there is no such name.
class NameServer {
 public:
  explicit NameServer(bool has_record) {
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address_);
    auto* address = reinterpret_cast<sockaddr*>(&address_);
    EXPECT_EQ(::bind(socket_, address, size), 0);
    ::getsockname(socket_, address, &size);
    thread_ = std::thread([this, has_record] { Answer(has_record); });
  }
  ~NameServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }
  const sockaddr_in& address() const { return address_; }

 private:
  void Answer(bool has_record) {
    for (;;) {
      std::string message(512, '\0');
      sockaddr_in from{};
      socklen_t size = sizeof(from);
      auto* sender = reinterpret_cast<sockaddr*>(&from);
      const ssize_t read = ::recvfrom(socket_, message.data(), message.size(), 0, sender, &size);
      if (read < 12) return;
      // The question alone, without what may come after it: its name, type and class.
      message.resize(message.find('\0', 12) + 5);
      message[2] = '\x84';
      message[3] = has_record ? '\0' : '\3';
      message.replace(4, 8, std::string("\0\1\0\0\0\0\0\0", 8));
      if (has_record) {
        message[7] = 1;
        // The same name, SRV, IN, 60 s, 11 bytes: priority, weight, port 6817, "ctl".
        message += std::string("\xc0\x0c\0\x21\0\1\0\0\0\x3c\0\x0b\0\0\0\0\x1a\xa1\3ctl\0", 23);
      }
      ::sendto(socket_, message.data(), message.size(), 0, sender, size);
    }
  }

  const int socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in address_{};
  std::thread thread_;
};

TEST(DnsNamesSlurmctld, WhereItHasTheRecord) {
  const NameServer server(true);
  EXPECT_TRUE(DnsNamesSlurmctld({server.address()}));
}

TEST(DnsNamesSlurmctld, NotWhereThereIsNoSuchName) {
  const NameServer server(false);
  EXPECT_FALSE(DnsNamesSlurmctld({server.address()}));
}

class SlurmConf : public testing::Test {
 protected:
  SlurmConf() {
    std::string name = testing::TempDir() + "slurm_conf_XXXXXX";
    folder_ = ::mkdtemp(name.data());
    std::ofstream(folder_ + "/slurm.conf") << "ClusterName=lab\n";
  }
  ~SlurmConf() override { std::filesystem::remove_all(folder_); }

  std::string folder_;
};

TEST_F(SlurmConf, TheConfiguredOneWins) {
  EXPECT_EQ(FindSlurmConf(folder_ + "/slurm.conf", {"/no/such"}, Never).value(),
            folder_ + "/slurm.conf");
}

TEST_F(SlurmConf, OtherwiseTheFirstThatCanBeRead) {
  EXPECT_EQ(FindSlurmConf("", {"/no/such", folder_ + "/slurm.conf"}, Never).value(),
            folder_ + "/slurm.conf");
}

TEST_F(SlurmConf, AConfiguredOneThatCannotBeReadIsNamedWithTheReason) {
  EXPECT_EQ(FindSlurmConf("/no/such", {folder_ + "/slurm.conf"}, Always).error().message,
            "Slurm's configuration /no/such cannot be read: No such file or directory; fix it, or "
            "set SLURM_CONF");
}

TEST_F(SlurmConf, AFolderIsNoConfiguration) {
  EXPECT_NE(FindSlurmConf(folder_, {}, Never).error().message.find("Is a directory"),
            std::string::npos);
}

TEST_F(SlurmConf, NoneIsNeededWhereSlurmFetchesIt) {
  EXPECT_EQ(FindSlurmConf("", {"/no/such"}, Always).value(), "");
}

TEST_F(SlurmConf, NoneAnywhereNamesThePlaces) {
  const auto result = FindSlurmConf("", {"/no/such", "/nor/this"}, Never);
  EXPECT_EQ(result.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(result.error().message.find("/no/such, /nor/this"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::collect
