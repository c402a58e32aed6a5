#include "daemon/remote/identity.h"

#include <gtest/gtest.h>

#include "common/munge/munge.h"
#include "tests/daemon/fake_clock.h"

namespace gpuadvise::daemon {
namespace {

class Identity : public testing::Test {
 protected:
  Result<Peer> Of(const std::string& authorization, const std::string& nonce = "") {
    ApiRequest request{"GET", "/v1/me", ""};
    request.authorization = authorization;
    request.nonce = nonce;
    Peer peer;
    peer.caller = -7;
    return IdentityOf(request, peer, rules_, users_, 0);
  }
  std::string Why(const std::string& authorization, const std::string& nonce = "") {
    const auto who = Of(authorization, nonce);
    return who ? "believed" : who.error().message;
  }

  FakeClock clock_;
  UserNames users_{clock_, [](int64_t) { return std::string(); },
                   [](const std::string&) { return std::optional<int64_t>(); }};
  IdentityRules rules_;
};

TEST_F(Identity, WhoShowsNothingHasNoName) {
  const Peer who = Of("").value();
  EXPECT_TRUE(who.anonymous);
  EXPECT_EQ(who.caller, -7);
}

TEST_F(Identity, WhatIsShownAndNotTakenIsRefusedNotPassedOver) {
  EXPECT_NE(Why("Bearer x").find("listen_tls.jwt_key"), std::string::npos);
  EXPECT_NE(Why("Munge x").find("listen_tls.munge"), std::string::npos);
  EXPECT_NE(Why("Basic x").find("neither"), std::string::npos);
  EXPECT_NE(Why("(given twice)").find("neither"), std::string::npos);
  EXPECT_NE(Why("bearer x").find("neither"), std::string::npos);
}

TEST_F(Identity, AMungeCredentialNeedsANonce) {
  rules_.munge = true;
  for (const char* nonce :
       {"", "0123456789abcdef", "0123456789ABCDEF0123456789abcdef",
        "0123456789abcdef0123456789abcdef0", "0123456789abcdef0123456789abcde\n"}) {
    EXPECT_NE(Why("Munge x", nonce).find("Gpuadvise-Nonce"), std::string::npos) << nonce;
  }
}

TEST_F(Identity, AMungeCredentialIsForOneRequest) {
  const std::string nonce = "0123456789abcdef0123456789abcdef";
  ApiRequest request{"POST", "/v1/when?x=1", "{}"};
  request.nonce = nonce;
  Peer peer;
  EXPECT_TRUE(SignedFor(request, peer)) << "by a token, or by nothing";
  peer.signed_for = MungePayload("POST", "/v1/when?x=1", nonce, "{}");
  EXPECT_TRUE(SignedFor(request, peer));
  for (const auto& change : std::initializer_list<void (*)(ApiRequest&)>{
           [](ApiRequest& r) { r.method = "GET"; }, [](ApiRequest& r) { r.target = "/v1/when"; },
           [](ApiRequest& r) { r.body = "{ }"; }, [](ApiRequest& r) { r.nonce[0] = '1'; }}) {
    ApiRequest other = request;
    change(other);
    EXPECT_FALSE(SignedFor(other, peer))
        << other.method << " " << other.target << " " << other.body;
  }
  request.is_head = true;
  request.method = "GET";
  EXPECT_FALSE(SignedFor(request, peer));
  peer.signed_for = MungePayload("HEAD", "/v1/when?x=1", nonce, "{}");
  EXPECT_TRUE(SignedFor(request, peer)) << "as it was on the request line";
}

TEST(MungePayload, IsADigestOfTheWholeRequest) {
  // printf 'GET\n/v1/me\n0123456789abcdef0123456789abcdef\n' | sha256sum
  EXPECT_EQ(MungePayload("GET", "/v1/me", "0123456789abcdef0123456789abcdef", ""),
            "gpuadvise b78ebe4eeab2784bb9e37252397b0a3f3d478e72a313ba8b99d6fd586bfb7e39");
}

}  // namespace
}  // namespace gpuadvise::daemon
