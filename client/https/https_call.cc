#include "client/https/https_call.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <memory>

#include "common/base/version.h"

namespace gpuadvise::client {
namespace {

// The soname has been this since 2006; its functions only ever grew in number.
constexpr const char* kLibrary = "libcurl.so.4";

struct Curl {
  decltype(&curl_global_init) init_all = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) set = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) info = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_strerror) words = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_list = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

// nullptr: this machine has none. It stays loaded: libraries that it uses cannot be unloaded.
const Curl* LoadCurl() {
  static const std::unique_ptr<const Curl> loaded = []() -> std::unique_ptr<const Curl> {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto curl = std::make_unique<Curl>();
    const bool all = Find(library, "curl_global_init", curl->init_all) &&
                     Find(library, "curl_easy_init", curl->init) &&
                     Find(library, "curl_easy_setopt", curl->set) &&
                     Find(library, "curl_easy_perform", curl->perform) &&
                     Find(library, "curl_easy_getinfo", curl->info) &&
                     Find(library, "curl_easy_cleanup", curl->cleanup) &&
                     Find(library, "curl_easy_strerror", curl->words) &&
                     Find(library, "curl_slist_append", curl->append) &&
                     Find(library, "curl_slist_free_all", curl->free_list);
    // Here once, before any thread's first call: releases before 7.84 do not lock it.
    if (!all || curl->init_all(CURL_GLOBAL_DEFAULT) != CURLE_OK) return nullptr;
    return curl;
  }();
  return loaded.get();
}

struct Received {
  std::string body;
  size_t most = 0;
  bool too_long = false;
};

// libcurl's write function: ends the transfer beyond the bound.
size_t TakeBytes(char* bytes, size_t size, size_t count, void* into) {
  auto& received = *static_cast<Received*>(into);
  received.too_long = received.body.size() + size * count > received.most;
  if (received.too_long) return 0;
  received.body.append(bytes, size * count);
  return size * count;
}

Result<HttpsAnswer> Failed(const std::string& why) { return Fail(ErrorCode::kUnavailable, why); }

}  // namespace

Result<HttpsAnswer> CallHttps(const HttpsRequest& request) {
  const Curl* curl = LoadCurl();
  if (curl == nullptr) {
    return Failed(fmt::format("{} cannot be loaded on this machine; install libcurl", kLibrary));
  }
  const std::unique_ptr<CURL, decltype(curl->cleanup)> call(curl->init(), curl->cleanup);
  if (call == nullptr) return Failed("libcurl makes no connection: no memory");
  std::unique_ptr<curl_slist, decltype(curl->free_list)> headers(
      curl->append(nullptr, "Content-Type: application/json"), curl->free_list);
  for (const std::string& field : request.fields) curl->append(headers.get(), field.c_str());
  const std::string agent = std::string("gpuadvise/") + kVersion;
  Received received;
  received.most = request.most_answer_bytes;
  curl->set(call.get(), CURLOPT_URL, request.url.c_str());
  curl->set(call.get(), CURLOPT_HTTPHEADER, headers.get());
  if (!request.ca_file.empty()) {
    curl->set(call.get(), CURLOPT_CAINFO, request.ca_file.c_str());
  }
  if (request.body) {
    curl->set(call.get(), CURLOPT_POSTFIELDSIZE, static_cast<long>(request.body->size()));
    curl->set(call.get(), CURLOPT_POSTFIELDS, request.body->c_str());
  }
  curl->set(call.get(), CURLOPT_USERAGENT, agent.c_str());
  curl->set(call.get(), CURLOPT_FOLLOWLOCATION, 0L);
  curl->set(call.get(), CURLOPT_NOSIGNAL, 1L);
  curl->set(call.get(), CURLOPT_TIMEOUT_MS, static_cast<long>(request.patience.count()));
  curl->set(call.get(), CURLOPT_WRITEFUNCTION, TakeBytes);
  curl->set(call.get(), CURLOPT_WRITEDATA, &received);
  const CURLcode code = curl->perform(call.get());
  if (received.too_long) {
    return Failed(fmt::format("its answer is longer than {} KiB", request.most_answer_bytes >> 10));
  }
  if (code == CURLE_OPERATION_TIMEDOUT) {
    return Failed(
        fmt::format("no answer within {} s", static_cast<double>(request.patience.count()) / 1000));
  }
  if (code != CURLE_OK) return Failed(curl->words(code));
  HttpsAnswer answer;
  curl->info(call.get(), CURLINFO_RESPONSE_CODE, &answer.status);
  answer.body = std::move(received.body);
  const char* leads_to = nullptr;
  if (curl->info(call.get(), CURLINFO_REDIRECT_URL, &leads_to) == CURLE_OK && leads_to != nullptr) {
    answer.location = leads_to;
  }
  return answer;
}

std::string PercentEncoded(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    encoded += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return encoded;
}

}  // namespace gpuadvise::client
