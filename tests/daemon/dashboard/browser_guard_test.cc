#include "daemon/dashboard/browser_guard.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <string>
#include <vector>

namespace gpuadvise::daemon {
namespace {

const std::vector<std::string> kHosts = {"gpu.example.org"};

bool Allowed(const BrowserFields& browser) {
  return CheckBrowser({"GET", "/v1/gpus", "", browser}, kHosts).has_value();
}

BrowserFields From(const std::string& host, const std::string& origin = "") {
  BrowserFields browser;
  browser.host = host;
  browser.origin = origin;
  return browser;
}

TEST(BrowserGuard, AnAddressEndsWhereItsTextDoes) {
  ApiRequest request{"GET", "/", ""};
  request.browser.host = std::string("[::1\0evil.example]:80", 22);
  EXPECT_FALSE(CheckBrowser(request, {}));
  request.browser.host = "[::1]:80";
  EXPECT_TRUE(CheckBrowser(request, {}));
}

TEST(HostWithoutPort, TakesOffPortBracketsAndCase) {
  EXPECT_EQ(HostWithoutPort("Gpu.Example.Org:6828"), "gpu.example.org");
  EXPECT_EQ(HostWithoutPort("[::1]:6828"), "::1");
  EXPECT_EQ(HostWithoutPort("::1"), "::1");
  EXPECT_EQ(HostWithoutPort("localhost."), "localhost");
  EXPECT_EQ(HostWithoutPort("["), "");
  EXPECT_EQ(HostWithoutPort(""), "");
}

TEST(BrowserGuard, AddressesLocalhostAndListedNamesAreKnown) {
  for (const char* host : {"127.0.0.1:6828", "[::1]:6828", "localhost:6828", "10.1.2.3",
                           "gpu.example.org", "GPU.example.org:443"}) {
    EXPECT_TRUE(Allowed(From(host))) << host;
  }
}

TEST(BrowserGuard, ANameThatWasMadeToMeanUsIsRefused) {
  for (const char* host : {"evil.example", "gpu.example.org.evil.example", "127.0.0.1.evil.example",
                           "localhost.evil.example", "notlocalhost", ""}) {
    EXPECT_FALSE(Allowed(From(host))) << host;
  }
}

TEST(BrowserGuard, ThePagesOwnOriginMayAsk) {
  EXPECT_TRUE(Allowed(From("127.0.0.1:6828", "http://127.0.0.1:6828")));
  EXPECT_TRUE(Allowed(From("gpu.example.org", "https://gpu.example.org")));
}

TEST(BrowserGuard, BehindAProxyTheListedNameMayAsk) {
  EXPECT_TRUE(Allowed(From("127.0.0.1:6828", "https://gpu.example.org")));
}

TEST(BrowserGuard, AnotherOriginMayNotAsk) {
  for (const char* origin :
       {"http://evil.example", "null", "http://127.0.0.1:3000", "http://localhost:6828", "file://",
        "chrome-extension://abc", "http://evil.example/http://127.0.0.1:6828"}) {
    EXPECT_FALSE(Allowed(From("127.0.0.1:6828", origin))) << origin;
  }
}

TEST(BrowserGuard, APageElsewhereMayLinkHereButNotEmbed) {
  BrowserFields link = From("127.0.0.1:6828");
  link.fetch_site = "cross-site";
  link.fetch_mode = "navigate";
  EXPECT_TRUE(Allowed(link));
  link.fetch_mode = "no-cors";
  EXPECT_FALSE(Allowed(link));
  link.fetch_site = "same-site";
  EXPECT_FALSE(Allowed(link));
  link.fetch_site = "same-origin";
  EXPECT_TRUE(Allowed(link));
}

TEST(BrowserGuard, NoOriginButAListedOneGetsThroughWhateverItsBytes) {
  EXPECT_TRUE(rc::check("foreign origins are refused", [](const std::string& bytes) {
    RC_PRE(!bytes.empty());
    const std::string origin = "http://x" + bytes;
    RC_PRE(HostWithoutPort(origin.substr(7)) != "gpu.example.org");
    RC_ASSERT(!Allowed(From("127.0.0.1:6828", origin)));
  }));
}

TEST(BrowserGuard, ARefusalShowsABoundedPieceOfTheName) {
  const auto refused = CheckBrowser({"GET", "/", "", From(std::string(10'000, 'a'))}, {});
  ASSERT_FALSE(refused);
  EXPECT_LT(refused.error().message.size(), 400u);
  EXPECT_NE(refused.error().message.find("listen_hosts"), std::string::npos);
}

}  // namespace
}  // namespace gpuadvise::daemon
