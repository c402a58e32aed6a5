// Messages to the user: what notify.yaml may say, and servers on loopback that behave and that do
// not.
#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "client/notify/notice.h"
#include "client/notify/notify_settings.h"
#include "client/notify/webhook.h"
#include "tests/fakes/temporary_folder.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kSecret = "T0KEN-of-the-channel";

// Answers each connection on loopback with one text; "" never answers.
class LoopbackServer {
 public:
  explicit LoopbackServer(std::string answer) : answer_(std::move(answer)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address);
    ::listen(socket_, 8);
    socklen_t size = sizeof address;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { Serve(); });
  }
  ~LoopbackServer() {
    ::shutdown(socket_, SHUT_RDWR);
    thread_.join();
    ::close(socket_);
  }

  std::string Url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/hooks/" + kSecret;
  }
  int calls() const { return calls_; }
  // REQUIRES: a message was answered.
  json Body() const { return json::parse(request_.substr(request_.find("\r\n\r\n") + 4)); }

 private:
  bool IsWhole() const {
    const size_t at = request_.find("Content-Length: ");
    const size_t head = request_.find("\r\n\r\n");
    return at != std::string::npos && head != std::string::npos &&
           request_.size() >= head + 4 + std::stoul(request_.substr(at + 16));
  }
  void Serve() {
    while (true) {
      const int peer = ::accept(socket_, nullptr, nullptr);
      if (peer < 0) return;
      ++calls_;
      char bytes[4096];
      ssize_t got = 0;
      request_.clear();
      while (!IsWhole() && (got = ::read(peer, bytes, sizeof bytes)) > 0)
        request_.append(bytes, got);
      if (answer_.empty()) {
        while (::read(peer, bytes, sizeof bytes) > 0) {  // until the client has had enough
        }
      }
      for (size_t sent = 0; sent < answer_.size();) {
        const ssize_t more =
            ::send(peer, answer_.data() + sent, answer_.size() - sent, MSG_NOSIGNAL);
        if (more <= 0) break;
        sent += static_cast<size_t>(more);
      }
      ::close(peer);
    }
  }

  const std::string answer_;
  int socket_ = -1;
  int port_ = 0;
  std::string request_;
  std::atomic<int> calls_ = 0;
  std::thread thread_;
};

constexpr const char* kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok";
const Notice kNotice{"started", 4711, "Job 4711 started",
                     "running since 14:03 <!channel> @here & \"x\""};

std::string Complaint(const std::string& url, milliseconds patience = std::chrono::seconds(60)) {
  const Result<void> sent = SendWebhook({WebhookFormat::kSlack, url}, kNotice, patience);
  return sent ? "" : sent.error().message;
}

TEST(Webhook, EachServiceGetsItsPayload) {
  const auto payload = [](WebhookFormat format) {
    return json::parse(WebhookPayload(format, kNotice));
  };
  EXPECT_EQ(payload(WebhookFormat::kSlack)["text"],
            "Job 4711 started\nrunning since 14:03 &lt;!channel&gt; @here &amp; \"x\"");
  EXPECT_THAT(payload(WebhookFormat::kMattermost)["text"], HasSubstr("@\u200bhere"));
  EXPECT_EQ(payload(WebhookFormat::kDiscord)["allowed_mentions"]["parse"], json::array());
  EXPECT_EQ(payload(WebhookFormat::kTeams)["attachments"][0]["content"]["body"][0]["text"],
            "Job 4711 started");
  EXPECT_EQ(payload(WebhookFormat::kJson)["job_id"], 4711);
  EXPECT_EQ(payload(WebhookFormat::kJson)["event"], "started");
}

TEST(Webhook, TheMessageArrives) {
  LoopbackServer server(kOk);
  EXPECT_EQ(Complaint(server.Url()), "");
  EXPECT_THAT(server.Body()["text"], HasSubstr("Job 4711 started"));
}

TEST(Webhook, OneThatHangsEndsAtItsDeadline) {
  LoopbackServer server("");
  EXPECT_EQ(Complaint(server.Url(), milliseconds(200)),
            "the slack webhook did not take the message: no answer within 0.2 s");
}

TEST(Webhook, ARedirectIsNotFollowed) {
  LoopbackServer target(kOk);
  LoopbackServer server("HTTP/1.1 302 Found\r\nLocation: " + target.Url() +
                        "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  EXPECT_THAT(Complaint(server.Url()), HasSubstr("it redirects, which is not followed"));
  EXPECT_EQ(target.calls(), 0);
}

TEST(Webhook, WhatItRefusesOrSendsWithoutEndIsASentenceWithoutTheUrl) {
  LoopbackServer gone("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
  LoopbackServer endless("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" +
                         std::string(4u << 20, 'x'));
  LoopbackServer rubbish("\x01\xff nothing of HTTP\r\n\r\n");
  std::string closed;
  {
    LoopbackServer server(kOk);
    closed = server.Url();
  }
  EXPECT_THAT(Complaint(gone.Url()), HasSubstr("HTTP 404"));
  EXPECT_THAT(Complaint(endless.Url()), HasSubstr("longer than 64 KiB"));
  for (const std::string& url : {gone.Url(), endless.Url(), rubbish.Url(), closed}) {
    EXPECT_THAT(Complaint(url), HasSubstr("did not take the message"));
    EXPECT_THAT(Complaint(url), Not(HasSubstr(kSecret)));
  }
}

class NotifySettingsTest : public testing::Test {
 protected:
  Result<NotifySettings> Read(const std::string& text, mode_t mode = 0600) {
    const std::string path = folder_.Write("notify.yaml", text);
    ::chmod(path.c_str(), mode);
    return ReadNotifySettings(path);
  }
  std::string Refusal(const std::string& text) {
    const Result<NotifySettings> settings = Read(text);
    return settings ? "" : settings.error().message;
  }

  TemporaryFolder folder_;
};

TEST_F(NotifySettingsTest, AllKeys) {
  const auto settings = Read(
      "email: ann@example.org\ndesktop: true\nevents: [started, ended]\n"
      "webhooks:\n  - slack: https://hooks.slack.example/x\n  - json: http://127.0.0.1:8080/x\n");
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->email, "ann@example.org");
  EXPECT_TRUE(settings->desktop);
  EXPECT_EQ(settings->events, (std::set<std::string>{"ended", "started"}));
  ASSERT_EQ(settings->webhooks.size(), 2u);
  EXPECT_EQ(settings->webhooks[1].format, WebhookFormat::kJson);
  EXPECT_EQ(settings->warning, "");
}

TEST_F(NotifySettingsTest, AFileThatOthersCanReadIsWarnedOf) {
  EXPECT_THAT(Read("desktop: true\n", 0644)->warning, HasSubstr("chmod 600"));
  EXPECT_THAT(Read("desktop: true\n", 0620)->warning, HasSubstr("chmod 600"));
}

TEST_F(NotifySettingsTest, WhatIsWrongIsASentenceWithoutTheUrl) {
  const std::string url = std::string("ftp://hooks.example/") + kSecret;
  EXPECT_THAT(Refusal("webhooks:\n  - slack: " + url + "\n"), HasSubstr("notify.yaml:2"));
  EXPECT_THAT(Refusal("webhooks:\n  - irc: https://x/" + std::string(kSecret) + "\n"),
              HasSubstr("unknown format"));
  EXPECT_THAT(Refusal("email: \"ann@example.org\\nBcc: all@example.org\"\n"),
              HasSubstr("no address"));
  EXPECT_THAT(Refusal("email: -oQ/tmp@example.org\n"), HasSubstr("no address"));
  EXPECT_THAT(Refusal("events: [started, lunch]\ndesktop: true\n"),
              HasSubstr("unknown event 'lunch'"));
  EXPECT_THAT(Refusal("colour: red\n"), HasSubstr("unknown key"));
  EXPECT_THAT(Refusal("desktop: maybe\n"), HasSubstr("neither true nor false"));
  EXPECT_THAT(Refusal(""), HasSubstr("names nobody to tell"));
  EXPECT_NE(Refusal("\xff\xfe: ["), "");
  for (const std::string& text :
       {"webhooks:\n  - slack: " + url + "\n", "webhooks: https://x/" + std::string(kSecret) + "\n",
        "webhooks:\n  - slack: {https://x/" + std::string(kSecret) + ": 1}\n",
        "webhooks:\n  - irc: https://x/" + std::string(kSecret) + "\n"}) {
    EXPECT_NE(Refusal(text), "");
    EXPECT_THAT(Refusal(text), Not(HasSubstr(kSecret)));
  }
}

TEST_F(NotifySettingsTest, AMissingFileIsASentence) {
  const auto settings = ReadNotifySettings(folder_.Path("none.yaml"));
  ASSERT_FALSE(settings);
  EXPECT_THAT(settings.error().message, HasSubstr("none.yaml"));
}

class SendNoticeTest : public NotifySettingsTest {
 protected:
  // A program that keeps its words and its input.
  void Install(const std::string& name, const std::string& end = "") {
    const std::string path = folder_.Write(
        "bin/" + name, "#!/bin/sh\necho \"$@\" > " + folder_.Path(name + ".words") + "\ncat > " +
                           folder_.Path(name + ".input") + "\n" + end + "\n");
    ::chmod(path.c_str(), 0755);
  }
  std::string Text(const std::string& name) {
    std::ostringstream text;
    text << std::ifstream(folder_.Path(name)).rdbuf();
    return text.str();
  }
  NotifyTools Tools(milliseconds patience = std::chrono::seconds(60)) {
    return {folder_.Path("bin"), patience};
  }

  NotifySettings settings_;
};

TEST_F(SendNoticeTest, MailAndDesktopGetIt) {
  Install("sendmail");
  Install("notify-send");
  settings_.email = "ann@example.org";
  settings_.desktop = true;
  EXPECT_EQ(SendNotice(settings_, NoticeOf("ended", "4711", "ended: <b>ok</b> \x1b[31m"), Tools()),
            std::vector<std::string>());
  EXPECT_EQ(Text("sendmail.words"), "-i -- ann@example.org\n");
  EXPECT_THAT(Text("sendmail.input"), HasSubstr("To: ann@example.org\nSubject: Job 4711 ended\n"));
  EXPECT_THAT(Text("sendmail.input"), Not(HasSubstr("\x1b")));
  EXPECT_THAT(Text("notify-send.words"), HasSubstr("Job 4711 ended ended: &lt;b&gt;ok"));
}

TEST_F(SendNoticeTest, WhatIsMissingFailsOrHangsIsASentenceEach) {
  settings_.email = "ann@example.org";
  settings_.desktop = true;
  const auto missing = SendNotice(settings_, kNotice, Tools());
  ASSERT_EQ(missing.size(), 2u);
  EXPECT_THAT(missing[0], HasSubstr("sendmail is not installed"));
  EXPECT_THAT(missing[1], HasSubstr("notify-send is not installed"));
  Install("sendmail", "exit 75");
  Install("notify-send", "exec sleep 1000");
  const auto broken = SendNotice(settings_, kNotice, Tools(milliseconds(300)));
  ASSERT_EQ(broken.size(), 2u);
  EXPECT_THAT(broken[1], HasSubstr("notify-send did not answer within"));
}

TEST_F(SendNoticeTest, EventsThatAreNotWantedAreNotSent) {
  settings_.email = "ann@example.org";  // sendmail is missing: a complaint if it were wanted
  settings_.events = {"ended"};
  EXPECT_EQ(SendNotice(settings_, kNotice, Tools()), std::vector<std::string>());
}

}  // namespace
}  // namespace gpuadvise::client
