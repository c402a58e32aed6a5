#include "daemon/remote/identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/daemon/fake_clock.h"

namespace gpuadvise::daemon {
namespace {

class Identity : public testing::Test {
 protected:
  Result<Peer> Of(const std::string& certificate, const std::string& uid,
                  const std::string& authorization = "") {
    ApiRequest request{"GET", "/v1/me", ""};
    request.relayed_uid = uid;
    request.relayed_host = "login1";
    request.authorization = authorization;
    Peer peer;
    peer.certificate = certificate;
    peer.caller = -7;
    return IdentityOf(request, peer, rules_, users_, 0);
  }
  std::string Why(const std::string& certificate, const std::string& uid,
                  const std::string& authorization = "") {
    const auto who = Of(certificate, uid, authorization);
    return who ? "believed" : who.error().message;
  }

  FakeClock clock_;
  UserNames users_{clock_, [](int64_t) { return std::string(); },
                   [](const std::string&) { return std::optional<int64_t>(); }};
  IdentityRules rules_{{"login1"}};
};

TEST_F(Identity, AUidIsBelievedFromListedRelaysAlone) {
  const Peer who = Of("login1", "1001").value();
  EXPECT_EQ(who.uid, 1001);
  EXPECT_FALSE(who.anonymous);
  EXPECT_TRUE(who.is_remote);
  EXPECT_EQ(who.caller, 1001) << "its user's bounds, on whatever host";
  EXPECT_EQ(who.host, "login1");
  EXPECT_NE(Why("login2", "1001").find("'login2' is not of a relay"), std::string::npos);
  EXPECT_NE(Why("", "1001").find("shows no certificate"), std::string::npos);
  EXPECT_NE(Why("LOGIN1", "1001").find("not of a relay"), std::string::npos);
}

TEST_F(Identity, RootOfAnotherHostIsNobody) {
  const Peer who = Of("login1", "0").value();
  EXPECT_TRUE(who.anonymous);
  EXPECT_EQ(who.uid, -1);
  EXPECT_NE(who.why_anonymous.find("root"), std::string::npos);
}

TEST_F(Identity, AStandbyHasTheHistoryAndNothingElse) {
  rules_.standbys = {"spare"};
  const auto of = [&](const std::string& certificate, const std::string& target) {
    ApiRequest request{"GET", target, ""};
    Peer peer;
    peer.certificate = certificate;
    return IdentityOf(request, peer, rules_, users_, 0).value();
  };
  EXPECT_EQ(of("spare", "/v1/standby").uid, geteuid());
  EXPECT_EQ(of("spare", "/v1/standby/copy/1?offset=0").uid, geteuid());
  EXPECT_TRUE(of("spare", "/v1/jobs/1").anonymous);
  EXPECT_TRUE(of("spare", "/v1/standbyx").anonymous);
  EXPECT_TRUE(of("login1", "/v1/standby").anonymous);
}

TEST_F(Identity, WhatIsNoUidIsRefused) {
  for (const char* uid : {"-1", "1x", "x", " 1", "1 ", "4294967295", "99999999999999999999", "0x1",
                          "(given twice)", "1,0"}) {
    EXPECT_NE(Why("login1", uid).find("names no user"), std::string::npos) << uid;
  }
}

TEST_F(Identity, WhoSaysNothingHasNoName) {
  EXPECT_TRUE(Of("", "").value().anonymous);
  EXPECT_TRUE(Of("login1", "").value().anonymous) << "a relay is no user";
}

TEST_F(Identity, WhatIsShownAndNotTakenIsRefusedNotPassedOver) {
  EXPECT_NE(Why("", "", "Bearer x").find("takes no tokens"), std::string::npos);
  EXPECT_NE(Why("", "", "Munge x").find("takes no munge"), std::string::npos);
  EXPECT_NE(Why("", "", "Basic x").find("neither"), std::string::npos);
  EXPECT_NE(Why("", "", "(given twice)").find("neither"), std::string::npos);
  EXPECT_NE(Why("login1", "1001", "Bearer x").find("says twice"), std::string::npos);
}

TEST_F(Identity, BoundsAreTheUsersOnlyWhereARelaySaysSo) {
  ApiRequest request;
  request.relayed_uid = "1001";
  Peer peer;
  peer.certificate = "login1";
  EXPECT_EQ(CallerByRelay(request, peer, rules_), 1001);
  request.relayed_caller = "1000";  // whose subordinate uid that is there
  EXPECT_EQ(CallerByRelay(request, peer, rules_), 1000);
  EXPECT_EQ(IdentityOf(request, peer, rules_, users_, 0)->caller, 1000);
  EXPECT_EQ(IdentityOf(request, peer, rules_, users_, 0)->uid, 1001);
  peer.certificate = "login2";
  EXPECT_EQ(CallerByRelay(request, peer, rules_), std::nullopt);
}

TEST_F(Identity, StrangersAreThoseOfWhomNothingIsSaid) {
  rules_.standbys = {"spare"};
  ApiRequest request;
  request.target = "/v1/standby";
  Peer peer;
  EXPECT_TRUE(IsStrangers(request, peer, rules_));
  peer.certificate = "spare";
  EXPECT_FALSE(IsStrangers(request, peer, rules_));
  request.target = "/v1/advise";
  EXPECT_TRUE(IsStrangers(request, peer, rules_));
  request.authorization = "Bearer x";
  EXPECT_FALSE(IsStrangers(request, peer, rules_));
  request.authorization = "";
  request.relayed_uid = "1001";
  EXPECT_FALSE(IsStrangers(request, peer, rules_));
}

}  // namespace
}  // namespace gpuadvise::daemon
