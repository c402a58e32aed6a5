#include "daemon/remote/token_keys.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace gpuadvise::daemon {
namespace {

using nlohmann::json;
using Number = std::unique_ptr<BIGNUM, decltype(&BN_free)>;

constexpr int kLeastRsaBits = 2048;
constexpr size_t kMostKeys = 64;
constexpr size_t kMostDigits = 2048;

// Base64url without padding (RFC 7515).
std::optional<std::string> Base64Url(const std::string& text) {
  if (text.empty() || text.size() > kMostDigits) return std::nullopt;
  std::string bytes;
  unsigned bits = 0;
  int held = 0;
  for (const char c : text) {
    static constexpr std::string_view kDigits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return std::nullopt;
    bits = (bits << 6 | static_cast<unsigned>(digit)) & 0xffff;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    bytes += static_cast<char>(bits >> held & 0xff);
  }
  return bytes;
}

Number NumberOf(const json& key, const char* member) {
  const auto found = key.find(member);
  std::optional<std::string> bytes;
  if (found != key.end() && found->is_string()) bytes = Base64Url(found->get<std::string>());
  if (!bytes) return {nullptr, &BN_free};
  return {BN_bin2bn(reinterpret_cast<const unsigned char*>(bytes->data()),
                    static_cast<int>(bytes->size()), nullptr),
          &BN_free};
}

std::string InPem(EVP_PKEY* key) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> memory(BIO_new(BIO_s_mem()), &BIO_free_all);
  char* bytes = nullptr;
  if (!memory || PEM_write_bio_PUBKEY(memory.get(), key) != 1) return "";
  const long size = BIO_get_mem_data(memory.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// "": no RSA key of a size that is safe.
std::string RsaInPem(const json& key) {
  const Number modulus = NumberOf(key, "n");
  const Number exponent = NumberOf(key, "e");
  if (!modulus || !exponent || BN_num_bits(modulus.get()) < kLeastRsaBits) return "";
  const std::unique_ptr<OSSL_PARAM_BLD, decltype(&OSSL_PARAM_BLD_free)> builder(
      OSSL_PARAM_BLD_new(), &OSSL_PARAM_BLD_free);
  if (!builder ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(builder.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
    return "";
  }
  const std::unique_ptr<OSSL_PARAM, decltype(&OSSL_PARAM_free)> parameters(
      OSSL_PARAM_BLD_to_param(builder.get()), &OSSL_PARAM_free);
  const std::unique_ptr<EVP_PKEY_CTX, decltype(&EVP_PKEY_CTX_free)> context(
      EVP_PKEY_CTX_new_from_name(nullptr, "RSA", nullptr), &EVP_PKEY_CTX_free);
  EVP_PKEY* made = nullptr;
  if (!parameters || !context || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &made, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    ERR_clear_error();
    return "";
  }
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> owned(made, &EVP_PKEY_free);
  return InPem(made);
}

bool IsForSignatures(const json& key) {
  return key.is_object() && key.value("kty", json()) == "RSA" &&
         key.value("use", json("sig")) == "sig" && key.value("alg", json("RS256")) == "RS256";
}

}  // namespace

Result<std::vector<WebKey>> ParseWebKeys(const std::string& text) {
  const json document = json::parse(text, nullptr, false);
  const auto keys = document.is_object() ? document.find("keys") : document.end();
  if (!document.is_object() || keys == document.end() || !keys->is_array()) {
    return BadInput("this is no JSON Web Key Set: {\"keys\": [...]}", "");
  }
  std::vector<WebKey> read;
  for (const json& key : *keys) {
    if (!IsForSignatures(key) || read.size() == kMostKeys) continue;
    std::string pem = RsaInPem(key);
    if (pem.empty()) continue;
    const json id = key.value("kid", json());
    read.push_back({id.is_string() ? id.get<std::string>() : "", std::move(pem)});
  }
  if (!read.empty()) return read;
  return BadInput("this set has no RSA key of 2048 bits or more for RS256 signatures", "");
}

}  // namespace gpuadvise::daemon
