// The process that a command runs in, with prepared answers for everything that it asks.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "client/api/exit_code.h"
#include "client/commands/command_line.h"
#include "tests/client/fake_api.h"
#include "tests/client/fake_console.h"
#include "tests/client/fake_runner.h"
#include "tests/client/fake_site.h"
#include "tests/client/fake_slurm.h"

namespace gpuadvise::client {

struct FakeProcess {
  // Runs `gpuadvise WORDS` and returns its exit code.
  int Gpuadvise(std::vector<std::string> words) {
    const auto line = ParseCommandLine(std::move(words));
    if (!line) {
      line.error().exit_code == kExitOk ? console.Print(line.error().text)
                                        : console.Complain(line.error().text);
      return line.error().exit_code;
    }
    console.shown.json = line->common.json;
    return line->command.run({.console = console,
                              .api = api,
                              .slurm = slurm,
                              .runner = runner,
                              .site = site,
                              .places = {},
                              .settings = settings,
                              .environment = {},
                              .api_within =
                                  [this](std::chrono::milliseconds given) {
                                    patience = given;
                                    return std::make_unique<SameApi>(api);
                                  },
                              .user_name = [this] { return user; },
                              .group_names = [this] { return groups; },
                              .sleep =
                                  [this](double seconds) {
                                    slept.push_back(seconds);
                                    console.clock += static_cast<int64_t>(seconds);
                                    if (after_sleep) after_sleep();
                                  },
                              .exec_limit = exec_limit});
  }

  FakeApi api;
  FakeConsole console;
  FakeSlurm slurm;
  FakeRunner runner;
  FakeSite site;
  ClientSettings settings;
  std::string user;
  std::vector<std::string> groups;
  std::chrono::milliseconds patience{0};  // of the last question to the daemon in its own time
  std::vector<double> slept;              // seconds
  std::function<void()> after_sleep;
  std::chrono::milliseconds exec_limit = std::chrono::minutes(5);

 private:
  class SameApi : public Api {
   public:
    explicit SameApi(Api& api) : api_(api) {}
    Result<nlohmann::json> Get(const std::string& target) override { return api_.Get(target); }
    Result<nlohmann::json> Post(const std::string& target, const nlohmann::json& body) override {
      return api_.Post(target, body);
    }

   private:
    Api& api_;
  };
};

}  // namespace gpuadvise::client
