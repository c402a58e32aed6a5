#include "daemon/tls/web_address.h"

#include <gtest/gtest.h>

namespace gpuadvise::daemon {
namespace {

TEST(WebAddress, HasAPortOfItsOwnOrTheUsualOne) {
  EXPECT_EQ(ParseWebAddress("https://centre.example.org")->Text(),
            "https://centre.example.org:6829");
  EXPECT_EQ(ParseWebAddress("https://centre:443/")->HostField(), "centre:443");
  const WebAddress six = ParseWebAddress("https://[2001:db8::7]:6829").value();
  EXPECT_EQ(six.host, "2001:db8::7");
  EXPECT_EQ(six.Text(), "https://[2001:db8::7]:6829");
  EXPECT_EQ(ParseWebAddress("https://[::1]")->port, "6829");
}

TEST(WebAddress, OthersAreRefusedWithTheForm) {
  for (const char* text : {"", "http://centre:6829", "centre:6829", "https://", "https://:6829",
                           "https://centre:", "https://centre:x", "https://centre:99999",
                           "https://a b:1", "https://a:1/path", "https://[::1", "https://[::1]x:1",
                           "https://2001:db8::7:1", "https://user@host:1", "https://h\r\nX:1"}) {
    const auto read = ParseWebAddress(text);
    ASSERT_FALSE(read) << text;
    EXPECT_NE(read.error().message.find("write https://HOST:PORT"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
