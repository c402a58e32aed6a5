#include "daemon/dashboard/page.h"

#include <fmt/format.h>

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "daemon/dashboard/compressed_answers.h"
#include "embedded/page_files.h"

namespace gpuadvise::daemon {
namespace {

// Nothing but the page's own files is loaded, run or asked, and no other page may frame it.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

constexpr const char* kNoPage =
    "This gpuadvised was built without its dashboard, because npm was missing or could not get its "
    "packages.\nInstall nodejs and npm, build again, and start it anew. The API answers here: "
    "GET v1/gpus, v1/queue, v1/accuracy and others.\n";

using Text = std::shared_ptr<const std::string>;

struct Served {
  std::string content_type;
  Text bytes;
  Text gzip;
  std::string tag;        // of bytes
  std::string gzip_tag;   // of gzip
  bool for_ever = false;  // its name changes with its bytes
};

std::map<std::string, Served, std::less<>> LoadFiles() {
  std::map<std::string, Served, std::less<>> files;
  for (const PageFile& file : PageFiles()) {
    files[std::string(file.path)] = {
        std::string(file.content_type),
        std::make_shared<const std::string>(file.bytes),
        std::make_shared<const std::string>(file.gzip),
        fmt::format("\"{:016x}\"", std::hash<std::string_view>{}(file.bytes)),
        fmt::format("\"{:016x}-gzip\"", std::hash<std::string_view>{}(file.bytes)),
        file.path.starts_with("/assets/")};
  }
  return files;
}

const std::map<std::string, Served, std::less<>>& Files() {
  static const auto files = LoadFiles();
  return files;
}

ApiResponse Serve(const Served& file, const BrowserFields& browser) {
  const bool zipped = TakesGzip(browser.accept_encoding);
  const std::string& tag = zipped ? file.gzip_tag : file.tag;
  ApiResponse response;
  response.content_type = file.content_type;
  response.fields = {
      {"Cache-Control", file.for_ever ? "public, max-age=31536000, immutable" : "no-cache"},
      {"ETag", tag},
      {"Vary", "Accept-Encoding"},
      {"Content-Security-Policy", kPolicy},
      {"Referrer-Policy", "no-referrer"}};
  if (browser.if_none_match.find(tag) != std::string::npos) {
    response.status = 304;
    return response;
  }
  if (zipped) response.fields.emplace_back("Content-Encoding", "gzip");
  response.shared_body = zipped ? file.gzip : file.bytes;
  return response;
}

}  // namespace

bool HasPage() { return !Files().empty(); }

std::optional<ApiResponse> AnswerPage(const ApiRequest& request) {
  if (request.method != "GET") return std::nullopt;
  const std::string_view target = request.target;
  const std::string_view path = target.substr(0, target.find('?'));
  const auto found = Files().find(path == "/" ? "/index.html" : path);
  if (found != Files().end()) return Serve(found->second, request.browser);
  if (path != "/") return std::nullopt;
  ApiResponse none{404, kNoPage, ""};
  none.content_type = "text/plain; charset=utf-8";
  return none;
}

}  // namespace gpuadvise::daemon
