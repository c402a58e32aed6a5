#include "daemon/remote/tokens.h"

#include <gtest/gtest.h>
#include <jwt.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "tests/daemon/temp_folder.h"

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;

constexpr UnixSeconds kNow = 1'790'000'000;
const std::string kSecret = "0123456789abcdef0123456789abcdef";

std::string Signed(jwt_alg_t algorithm, const std::string& key, const json& claims,
                   const std::string& id = "") {
  jwt_t* made = nullptr;
  EXPECT_EQ(jwt_new(&made), 0);
  const std::unique_ptr<jwt_t, decltype(&jwt_free)> owned(made, &jwt_free);
  EXPECT_EQ(jwt_add_grants_json(made, claims.dump().c_str()), 0);
  if (!id.empty()) jwt_add_header(made, "kid", id.c_str());
  EXPECT_EQ(
      jwt_set_alg(
          made, algorithm,
          algorithm == JWT_ALG_NONE ? nullptr : reinterpret_cast<const unsigned char*>(key.data()),
          algorithm == JWT_ALG_NONE ? 0 : static_cast<int>(key.size())),
      0);
  const std::unique_ptr<char, decltype(&std::free)> text(jwt_encode_str(made), &std::free);
  return text.get();
}

json Claims(json more = json::object()) {
  json claims = {{"exp", kNow + 600}, {"iat", kNow}, {"sun", "ann"}};
  claims.update(more);
  return claims;
}

// An RSA key of `bits`: the private one as PEM, the public one as PEM and as a web key.
struct RsaKey {
  explicit RsaKey(unsigned bits) {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_RSA_gen(bits),
                                                                  &EVP_PKEY_free);
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> memory(BIO_new(BIO_s_mem()), &BIO_free_all);
    PEM_write_bio_PrivateKey(memory.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    private_pem = Text(memory.get());
    const std::unique_ptr<BIO, decltype(&BIO_free_all)> open(BIO_new(BIO_s_mem()), &BIO_free_all);
    PEM_write_bio_PUBKEY(open.get(), key.get());
    public_pem = Text(open.get());
    web = {{"kty", "RSA"},
           {"alg", "RS256"},
           {"n", Number(key.get(), OSSL_PKEY_PARAM_RSA_N)},
           {"e", Number(key.get(), OSSL_PKEY_PARAM_RSA_E)}};
  }

  static std::string Text(BIO* memory) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory, &bytes);
    return {bytes, static_cast<size_t>(size)};
  }

  static std::string Number(EVP_PKEY* key, const char* name) {
    BIGNUM* number = nullptr;
    EVP_PKEY_get_bn_param(key, name, &number);
    const std::unique_ptr<BIGNUM, decltype(&BN_free)> owned(number, &BN_free);
    std::string bytes(static_cast<size_t>(BN_num_bytes(number)), '\0');
    BN_bn2bin(number, reinterpret_cast<unsigned char*>(bytes.data()));
    std::string text(4 * ((bytes.size() + 2) / 3), '\0');
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                    reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
    while (text.ends_with('=')) text.pop_back();
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
  }

  std::string private_pem;
  std::string public_pem;
  json web;
};

class TokensTest : public testing::Test {
 protected:
  std::unique_ptr<Tokens> WithSecret() {
    return Tokens::Make({folder_.Write("key", kSecret)}).value();
  }
  std::unique_ptr<Tokens> WithKeys(const json& keys, TokenRules rules = {}) {
    rules.jwks_file = folder_.Write("jwks.json", json{{"keys", keys}}.dump());
    return Tokens::Make(rules).value();
  }
  static std::string Why(const Tokens& tokens, const std::string& token) {
    const auto user = tokens.UserOf(token, kNow);
    return user ? "believed: " + *user : user.error().message;
  }
  TempFolder folder_;
};

TEST_F(TokensTest, OneOfSlurmsNamesItsUser) {
  const auto tokens = WithSecret();
  EXPECT_EQ(tokens->UserOf(Signed(JWT_ALG_HS256, kSecret, Claims()), kNow).value(), "ann");
  EXPECT_EQ(tokens->UserOf(Signed(JWT_ALG_HS256, kSecret, Claims()), kNow + 659).value(), "ann")
      << "within the leeway";
}

TEST_F(TokensTest, ForgedOnesAreRefusedWithTheReason) {
  const auto tokens = WithSecret();
  const std::string good = Signed(JWT_ALG_HS256, kSecret, Claims());
  const std::pair<std::string, const char*> forged[] = {
      {Signed(JWT_ALG_NONE, "", Claims()), "does not take"},
      {Signed(JWT_ALG_HS512, kSecret, Claims()), "does not take"},
      {Signed(JWT_ALG_HS256, std::string(32, 'x'), Claims()), "another cluster's"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"exp", kNow - 61}})), "expired"},
      {Signed(JWT_ALG_HS256, kSecret, {{"sun", "ann"}}), "has no end"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"exp", "1"}})), "has no end"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"nbf", kNow + 3600}})), "compare the clocks"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"iat", kNow + 3600}})), "compare the clocks"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"sun", ""}})), "names no user"},
      {Signed(JWT_ALG_HS256, kSecret, Claims({{"sun", 0}})), "names no user"},
      {good.substr(0, good.rfind('.') + 1), "a key of this cluster"},
      {good.substr(0, good.size() - 3), "a key of this cluster"},
      {"", "no JSON Web Token"},
      {"..", "no JSON Web Token"},
      {std::string(9000, 'a'), "longer than"},
      {good + std::string(1, '\0') + "x", "no JSON Web Token"}};
  for (const auto& [token, why] : forged) {
    EXPECT_NE(Why(*tokens, token).find(why), std::string::npos)
        << why << ": " << Why(*tokens, token);
  }
}

TEST_F(TokensTest, AKeySetIsForRs256AndChosenByItsId) {
  const RsaKey first(2048);
  const RsaKey second(2048);
  json named = second.web;
  named["kid"] = "second";
  json other = first.web;
  other["kid"] = "first";
  const auto tokens = WithKeys({{{"kty", "EC"}, {"crv", "P-256"}}, other, named});
  EXPECT_EQ(
      tokens->UserOf(Signed(JWT_ALG_RS256, second.private_pem, Claims(), "second"), kNow).value(),
      "ann");
  EXPECT_EQ(tokens->UserOf(Signed(JWT_ALG_RS256, second.private_pem, Claims()), kNow).value(),
            "ann")
      << "without an id all keys are tried";
  EXPECT_NE(Why(*tokens, Signed(JWT_ALG_RS256, second.private_pem, Claims(), "first"))
                .find("a key of this cluster"),
            std::string::npos);
  // The public key, which everybody knows, as the secret of HS256.
  EXPECT_NE(Why(*tokens, Signed(JWT_ALG_HS256, first.public_pem, Claims())).find("does not take"),
            std::string::npos);
}

TEST_F(TokensTest, IssuerAndAudienceAreAskedForWhereTheSiteNamesThem) {
  const RsaKey key(2048);
  TokenRules rules;
  rules.issuer = "https://login";
  rules.audience = "gpuadvise";
  rules.user_claim = "preferred_username";
  const auto tokens = WithKeys(json::array({key.web}), rules);
  const json good = {
      {"iss", "https://login"}, {"aud", {"x", "gpuadvise"}}, {"preferred_username", "ben"}};
  EXPECT_EQ(tokens->UserOf(Signed(JWT_ALG_RS256, key.private_pem, Claims(good)), kNow).value(),
            "ben");
  json wrong = good;
  wrong["aud"] = "another service";
  EXPECT_NE(Why(*tokens, Signed(JWT_ALG_RS256, key.private_pem, Claims(wrong))).find("is not for"),
            std::string::npos);
  wrong = good;
  wrong["iss"] = "https://elsewhere";
  EXPECT_NE(
      Why(*tokens, Signed(JWT_ALG_RS256, key.private_pem, Claims(wrong))).find("not issued by"),
      std::string::npos);
}

TEST_F(TokensTest, AChangedKeyIsTakenAndABrokenOneIsNot) {
  const auto tokens = WithSecret();
  folder_.Write("key", "short");
  const auto broken = tokens->Refresh();
  ASSERT_FALSE(broken);
  EXPECT_NE(broken.error().message.find("has 5 bytes"), std::string::npos);
  EXPECT_TRUE(tokens->UserOf(Signed(JWT_ALG_HS256, kSecret, Claims()), kNow));
  const std::string next(40, 'n');
  folder_.Write("key", next);
  ASSERT_TRUE(tokens->Refresh());
  EXPECT_TRUE(tokens->UserOf(Signed(JWT_ALG_HS256, next, Claims()), kNow));
  EXPECT_FALSE(tokens->UserOf(Signed(JWT_ALG_HS256, kSecret, Claims()), kNow));
}

TEST_F(TokensTest, KeySetsThatAreNone) {
  const RsaKey weak(1024);
  for (const std::string& text :
       {std::string("nonsense"), std::string("[]"), std::string("{}"),
        std::string(R"({"keys": 1})"), std::string(R"({"keys": []})"),
        std::string(R"({"keys": [{"kty": "RSA", "n": "!", "e": "AQAB"}]})"),
        std::string(R"({"keys": [1, null, {"kty": 3}]})"),
        json{{"keys", json::array({weak.web})}}.dump()}) {
    EXPECT_FALSE(ParseWebKeys(text)) << text;
  }
}

}  // namespace
}  // namespace gpuadvise::daemon
