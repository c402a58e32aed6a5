// Credentials by libmunge, which is loaded when it is first needed.
#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/types.h>

#include <cstdlib>
#include <memory>

#include "common/munge/munge.h"

namespace gpuadvise {
namespace {

// libmunge's interface from munge(3); the soname is unchanged since 2006.
constexpr const char* kLibrary = "libmunge.so.2";
constexpr int kSocketOption = 8;  // MUNGE_OPT_SOCKET
constexpr int kSuccess = 0;       // EMUNGE_SUCCESS
constexpr int kSocketError = 6;   // EMUNGE_SOCKET
constexpr int kTimeout = 7;       // EMUNGE_TIMEOUT

struct Munge {
  void* (*make_context)() = nullptr;
  void (*destroy_context)(void*) = nullptr;
  int (*set)(void*, int, ...) = nullptr;
  int (*encode)(char**, void*, const void*, int) = nullptr;
  int (*decode)(const char*, void*, void**, int*, uid_t*, gid_t*) = nullptr;
  const char* (*words)(int) = nullptr;
};

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

const Munge* LoadMunge() {
  static const std::unique_ptr<const Munge> loaded = []() -> std::unique_ptr<const Munge> {
    void* library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return nullptr;
    auto munge = std::make_unique<Munge>();
    const bool all = Find(library, "munge_ctx_create", munge->make_context) &&
                     Find(library, "munge_ctx_destroy", munge->destroy_context) &&
                     Find(library, "munge_ctx_set", munge->set) &&
                     Find(library, "munge_encode", munge->encode) &&
                     Find(library, "munge_decode", munge->decode) &&
                     Find(library, "munge_strerror", munge->words);
    return all ? std::move(munge) : nullptr;
  }();
  return loaded.get();
}

using Context = std::unique_ptr<void, void (*)(void*)>;

Context ContextFor(const Munge& munge, const std::string& socket) {
  Context context(munge.make_context(), munge.destroy_context);
  if (!socket.empty()) munge.set(context.get(), kSocketOption, socket.c_str());
  return context;
}

tl::unexpected<Error> NoLibrary() {
  return Fail(ErrorCode::kUnavailable,
              fmt::format("{} cannot be loaded on this host; install munge", kLibrary));
}

}  // namespace

Result<std::string> MungeCredential(const std::string& payload, const std::string& socket) {
  const Munge* munge = LoadMunge();
  if (munge == nullptr) return NoLibrary();
  const Context context = ContextFor(*munge, socket);
  char* text = nullptr;
  const int status =
      munge->encode(&text, context.get(), payload.data(), static_cast<int>(payload.size()));
  const std::unique_ptr<char, decltype(&std::free)> owned(text, &std::free);
  if (status == kSuccess) return std::string(text);
  return Fail(ErrorCode::kUnavailable, munge->words(status));
}

Result<MungeProof> ReadCredential(const std::string& credential, const std::string& socket) {
  const Munge* munge = LoadMunge();
  if (munge == nullptr) return NoLibrary();
  const Context context = ContextFor(*munge, socket);
  void* bytes = nullptr;
  int size = 0;
  uid_t uid = 0;
  gid_t gid = 0;
  const int status = munge->decode(credential.c_str(), context.get(), &bytes, &size, &uid, &gid);
  const std::unique_ptr<void, decltype(&std::free)> owned(bytes, &std::free);
  if (status == kSocketError || status == kTimeout) {
    return Fail(
        ErrorCode::kUnavailable,
        fmt::format("munged does not answer on the daemon's host: {}", munge->words(status)));
  }
  if (status != kSuccess) {
    return BadInput(fmt::format("the munge credential is not valid: {}", munge->words(status)), "");
  }
  return MungeProof{static_cast<int64_t>(uid),
                    {static_cast<const char*>(bytes), static_cast<size_t>(size)}};
}

}  // namespace gpuadvise
