// The options of a command: what they are read into, and what --help says of them.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "client/commands/command.h"

namespace CLI {
class Option;
}

namespace gpuadvise::client {

inline constexpr double kMostSeconds = 1e9;  // 30 years

// "" for a good word, else what is wrong with it.
using WordCheck = std::function<std::string(const std::string& word)>;

// Names are as --help shows them, with the word that stands for the value: "-n,--lines N". An
// argument is its one word: "FILE".
class Options {
 public:
  // What is read goes into `common` and the variables that are named. REQUIRES: these live until
  // `app` has read the command line.
  Options(CLI::App& app, CommonOptions& common) : app_(app), common_(common) {}

  CLI::Option* Flag(const char* name, bool& given, const char* help);
  // T: std::string, std::vector<std::string>, std::optional<double>.
  template <class T>
  CLI::Option* Value(const char* name, T& value, const char* help, WordCheck check = {});
  // From `least` to `most`. T: int64_t, double, std::optional of these, std::vector<int64_t>.
  template <class T>
  CLI::Option* Number(const char* name, T& value, double least, double most, const char* help);
  void Required(const char* name, std::string& value, const char* help, WordCheck check = {});

  void Json(const char* help = "Print the API's JSON");  // --json
  void Place();                                          // --socket and --daemon
  void JsonAndPlace();
  void Clusters();  // -M

  // What --help says below the options.
  void Footer(const char* text);

  CLI::App& app() { return app_; }

 private:
  CLI::App& app_;
  CommonOptions& common_;
};

// finish, start, cost or deadline.
std::string CheckObjective(const std::string& word);

// A job's number.
std::string CheckJobId(const std::string& word);
// Also a task of an array and a part of a heterogeneous job.
std::string CheckAnyJobId(const std::string& word);

// A job's number, also of an array's task: 4711, 4711_3.
std::string CheckJobOrTask(const std::string& word);

}  // namespace gpuadvise::client
