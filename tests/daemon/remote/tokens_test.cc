#include "daemon/remote/tokens.h"

#include <gtest/gtest.h>
#include <jwt.h>
#include <sys/stat.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr UnixSeconds kNow = 1'790'000'000;
const std::string kKey = "0123456789abcdef0123456789abcdef";

std::string Signed(jwt_alg_t algorithm, const std::string& key, const json& claims,
                   const json& header = json::object()) {
  jwt_t* made = nullptr;
  EXPECT_EQ(jwt_new(&made), 0);
  const std::unique_ptr<jwt_t, decltype(&jwt_free)> owned(made, &jwt_free);
  EXPECT_EQ(jwt_add_grants_json(made, claims.dump().c_str()), 0);
  EXPECT_EQ(jwt_add_headers_json(made, header.dump().c_str()), 0);
  const bool none = algorithm == JWT_ALG_NONE;
  EXPECT_EQ(jwt_set_alg(made, algorithm,
                        none ? nullptr : reinterpret_cast<const unsigned char*>(key.data()),
                        none ? 0 : static_cast<int>(key.size())),
            0);
  const std::unique_ptr<char, decltype(&std::free)> text(jwt_encode_str(made), &std::free);
  return text.get();
}

json Claims(json more = json::object()) {
  json claims = {{"exp", kNow + 600}, {"iat", kNow}, {"sun", "ann"}};
  claims.update(more);
  return claims;
}

class TokensTest : public testing::Test {
 protected:
  void WriteKey(const std::string& key, mode_t mode = 0600) {
    chmod(folder_.Write("key", key).c_str(), mode);
  }
  std::unique_ptr<Tokens> Made() {
    WriteKey(kKey);
    return Tokens::Make(folder_.Path("key")).value();
  }
  static std::string Why(const Tokens& tokens, const std::string& token) {
    const auto user = tokens.UserOf(token, kNow);
    return user ? "believed: " + *user : user.error().message;
  }
  TempFolder folder_;
};

TEST_F(TokensTest, OneOfSlurmsNamesItsUser) {
  const auto tokens = Made();
  const std::string token = Signed(JWT_ALG_HS256, kKey, Claims());
  EXPECT_EQ(tokens->UserOf(token, kNow).value(), "ann");
  EXPECT_EQ(tokens->UserOf(token, kNow + 659).value(), "ann") << "within the leeway";
  EXPECT_FALSE(tokens->UserOf(token, kNow + 660));
}

TEST_F(TokensTest, ForgedOnesAreRefusedWithTheReason) {
  const auto tokens = Made();
  const std::string good = Signed(JWT_ALG_HS256, kKey, Claims());
  const char* const not_signed = "is not signed (HS256) by this cluster's jwt_key";
  const std::pair<std::string, const char*> forged[] = {
      {Signed(JWT_ALG_NONE, "", Claims()), not_signed},
      {Signed(JWT_ALG_HS384, kKey, Claims()), not_signed},
      {Signed(JWT_ALG_HS512, kKey, Claims()), not_signed},
      {Signed(JWT_ALG_HS256, std::string(32, 'x'), Claims()), not_signed},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"exp", kNow - 61}})), "expired"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"exp", INT64_MIN}})), "expired"},
      {Signed(JWT_ALG_HS256, kKey, {{"sun", "ann"}}), "has no end"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"exp", "1"}})), "(exp) that is not a whole number"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"nbf", kNow + 3600}})), "compare the clocks"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"iat", kNow + 3600}})), "compare the clocks"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"nbf", "tomorrow"}})), "(nbf) that is not a whole"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"iat", json::array()}})), "(iat) that is not a whole"},
      {Signed(JWT_ALG_HS256, kKey, Claims(), {{"crit", {"exp"}}}), "demands extensions"},
      {Signed(JWT_ALG_HS256, kKey, Claims(), {{"crit", "x"}}), "demands extensions"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"sun", ""}})), "names no user"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"sun", 0}})), "names no user"},
      {Signed(JWT_ALG_HS256, kKey, Claims({{"sun", {"ann"}}})), "names no user"},
      {good.substr(0, good.rfind('.') + 1), not_signed},
      {good.substr(0, good.size() - 3), not_signed},
      {"", not_signed},
      {"..", not_signed},
      {std::string(9000, 'a'), "longer than"},
      {good + std::string(1, '\0') + "x", not_signed}};
  for (const auto& [token, why] : forged) {
    EXPECT_NE(Why(*tokens, token).find(why), std::string::npos)
        << why << ": " << Why(*tokens, token);
  }
}

TEST_F(TokensTest, AChangedKeyIsTakenAndABrokenOneIsNot) {
  const auto tokens = Made();
  WriteKey("short");
  const auto broken = tokens->Refresh();
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("has 5 bytes"), std::string::npos);
  EXPECT_TRUE(tokens->UserOf(Signed(JWT_ALG_HS256, kKey, Claims()), kNow));
  const std::string next(40, 'n');
  WriteKey(next);
  ASSERT_TRUE(tokens->Refresh());
  EXPECT_TRUE(tokens->UserOf(Signed(JWT_ALG_HS256, next, Claims()), kNow));
  EXPECT_FALSE(tokens->UserOf(Signed(JWT_ALG_HS256, kKey, Claims()), kNow));
}

TEST_F(TokensTest, AKeyThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0604, 0644, 0602, 0620}) {
    WriteKey(kKey, mode);
    const auto made = Tokens::Make(folder_.Path("key"));
    ASSERT_FALSE(made) << mode;
    EXPECT_NE(made.error().message.find("chmod 600 " + folder_.Path("key")), std::string::npos)
        << made.error().message;
  }
  WriteKey(kKey, 0640);  // the daemon's own group
  EXPECT_TRUE(Tokens::Make(folder_.Path("key")));
}

}  // namespace
}  // namespace gpuadvise::daemon
