// `gpuadvise complete WORD...`: what may stand where the cursor is. The shells' completion files
// (packaging/completions/) pass the words after `gpuadvise`, the last of them unfinished.
//
// Prints one candidate a line, its description behind a tab; the line ":files" asks the shell to
// offer files as well. A candidate has letters, digits and "_.,:=+@/-" only, so that no shell
// finds anything to expand or to run in it: a name with other characters is not offered. Commands
// and options come from the parser's own table, GPU types, partitions and jobs from the daemon.
// Where that does not answer at once there are fewer candidates and no message.

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "client/api/answer_reader.h"
#include "client/api/exit_code.h"
#include "client/commands/command_table.h"
#include "client/commands/help_topics.h"
#include "client/sbatch/sbatch_options.h"
#include "client/terminal/printable.h"
#include "common/api/experiment.h"
#include "common/api/gpus.h"
#include "common/api/queue.h"
#include "common/base/text.h"
#include "common/base/words.h"
#include "common/keys/train_keys.h"
#include "common/net/http_call.h"

namespace gpuadvise::client {
namespace {

using nlohmann::json;

// A person waits with a finger on the Tab key.
constexpr std::chrono::milliseconds kPatience(300);
constexpr size_t kMostAboutBytes = 80;  // of a description: one line of most terminals
constexpr const char* kFilesLine = ":files";

struct CompletionWord {
  std::string word;
  std::string about = {};
};

// Whether no shell sees anything but a word in it.
bool IsPlain(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    const char low = LowerCase(c);
    return IsDigit(c) || (low >= 'a' && low <= 'z') ||
           std::string_view("_.,:=+@/-").find(c) != std::string_view::npos;
  });
}

// What values an option or a positional takes.
enum class Values {
  kNothing,
  kWords,      // the table's own
  kKeyWords,   // of the training file's key
  kGpus,       // of the cluster, by their names here
  kCards,      // all that are known
  kGresTypes,  // as --gpus takes them: l40s
  kGres,       // as --gres takes them: gpu:l40s
  kPartitions,
  kModels,
  kModelsAndFiles,
  kKeys,  // of a train.yaml
  kJobs,
  kJobNames,
  kObjectives,
  kDeadlines,
  kStates,
  kTopics,
  kFiles
};

struct ValueRule {
  const char* command;  // "": of any
  const char* name;     // of the option, or of the positional
  Values values;
};

// The first that matches. Options that are not here: by the word that stands for their value.
const ValueRule kRules[] = {
    {"fit", "--gpu", Values::kCards},
    {"scale", "--gpu", Values::kCards},
    {"", "--gpu", Values::kGpus},
    {"", "--partition", Values::kPartitions},
    {"select", "--avoid", Values::kPartitions},
    {"", "--model", Values::kModels},
    {"", "--gres", Values::kGres},
    {"fit", "--gpus", Values::kNothing},
    {"", "--gpus", Values::kGresTypes},
    {"", "--gpus-per-node", Values::kGresTypes},
    {"jobs", "--name", Values::kJobNames},
    {"", "--objective", Values::kObjectives},
    {"", "--deadline", Values::kDeadlines},
    {"", "--submitted", Values::kJobs},
    {"", "JOBID", Values::kJobs},
    {"queue", "--jobs", Values::kJobs},
    {"queue", "--state", Values::kStates},
    {"", "FILE|MODEL", Values::kModelsAndFiles},
    {"models", "WORD", Values::kModels},
    {"cards", "WORD", Values::kCards},
    {"reference", "WORD", Values::kKeys},
    {"help", "TOPIC", Values::kTopics},
};

// The key of a training file that an option of fit and scale sets; nullptr: none.
const TrainKey* KeyOf(const OptionRow& option) {
  for (const TrainKey& key : TrainKeys()) {
    for (const std::string_view spelling : SplitAt(key.option, ',')) {
      if (!spelling.empty() && IsOneOf(spelling, option.names)) return &key;
    }
  }
  return nullptr;
}

Values ValuesOf(const std::string& command, const OptionRow& option) {
  for (const ValueRule& rule : kRules) {
    const bool here = rule.command == std::string_view() || command == rule.command;
    if (here && IsOneOf(rule.name, option.names)) return rule.values;
  }
  if (!option.words.empty()) return Values::kWords;
  if (KeyOf(option) != nullptr && !KeyOf(option)->words.empty()) return Values::kKeyWords;
  const std::string& value = option.positional ? option.names.front() : option.value;
  for (const char* file : {"FILE", "PATH", "DIR", "JOB.SH"}) {
    if (value.find(file) != std::string::npos) return Values::kFiles;
  }
  return Values::kNothing;
}

// Collects what fits behind the cursor's word.
class Completion {
 public:
  Completion(const std::vector<std::string>& words, std::string user)
      : user_(std::move(user)), table_(CommandTable()), words_(words) {
    current_ = words.empty() ? "" : words.back();
    if (Result<ClientSettings> usual = FindSettings(PlacesFromEnvironment({}))) own_ = usual->own;
  }

  std::string Text() {
    Collect();
    std::string text = files_ ? std::string(kFilesLine) + "\n" : "";
    std::stable_sort(
        found_.begin(), found_.end(),
        [](const CompletionWord& a, const CompletionWord& b) { return a.word < b.word; });
    const auto same = [](const CompletionWord& a, const CompletionWord& b) {
      return a.word == b.word;
    };
    found_.erase(std::unique(found_.begin(), found_.end(), same), found_.end());
    for (const CompletionWord& each : found_) {
      text += each.word;
      if (!each.about.empty()) text += "\t" + Shortened(Printable(each.about), kMostAboutBytes);
      text += "\n";
    }
    return text;
  }

 private:
  void Collect() {
    const size_t before = words_.empty() ? 0 : words_.size() - 1;
    size_t at = 0;
    while (at < before && TakeGlobal(at)) {
    }
    if (at == before) return OfferCommands();
    const auto found = std::find_if(table_.begin() + 1, table_.end(),
                                    [&](const CommandRow& row) { return row.name == words_[at]; });
    if (at > before || found == table_.end()) return;
    command_ = &*found;
    InCommand(at + 1, before);
  }

  // --json, --socket PATH and --daemon URL may stand before the command.
  bool TakeGlobal(size_t& at) {
    if (FlagOf(words_[at]) != nullptr && at + 2 < words_.size()) {
      *FlagOf(words_[at]) = words_[at + 1];
      at += 2;
      return true;
    }
    if (!words_[at].starts_with('-')) return false;
    TakeJoined(words_[at]);
    ++at;
    return true;
  }

  // What "--socket" or "--daemon" says; nullptr: of another word.
  std::string* FlagOf(std::string_view word) {
    if (word == "--socket") return &flags_.socket;
    return word == "--daemon" ? &flags_.daemon : nullptr;
  }

  // "--socket=PATH"
  void TakeJoined(const std::string& word) {
    const size_t equals = word.find('=');
    std::string* flag = FlagOf(word.substr(0, equals));
    if (flag != nullptr && equals != std::string::npos) *flag = word.substr(equals + 1);
  }

  void OfferCommands() {
    if (current_.starts_with('-')) return OfferOptions(table_.front());
    for (size_t i = 1; i < table_.size(); ++i) Offer(table_[i].name, table_[i].description);
  }

  // The words of the command from `at` to before the cursor's.
  void InCommand(size_t at, size_t before) {
    size_t positionals = 0;
    const OptionRow* wants = nullptr;  // an option whose value the cursor's word is
    for (; at < before; ++at) {
      const std::string& word = words_[at];
      if (word == "--") return AfterDashes();
      wants = nullptr;
      if (word.size() < 2 || word[0] != '-') {
        ++positionals;
        continue;
      }
      const OptionRow* option = OptionOf(word);
      TakeJoined(word);
      if (option == nullptr || option->value.empty() || word.find('=') != std::string::npos)
        continue;
      if (at + 1 == before) {
        wants = option;
        break;
      }
      if (std::string* flag = FlagOf(word)) *flag = words_[at + 1];
      ++at;
    }
    if (wants != nullptr) return OfferValues(*wants, "");
    const size_t equals = current_.find('=');
    if (current_.starts_with("--") && equals != std::string::npos) {
      const OptionRow* option = OptionOf(current_);
      if (option != nullptr) OfferValues(*option, current_.substr(0, equals + 1));
    } else if (current_.starts_with('-')) {
      OfferOptions(*command_);
      if (TakesSbatchOptions()) OfferSbatchOptions();
    } else {
      OfferPositional(positionals);
    }
  }

  bool TakesSbatchOptions() const { return command_->foreign == ForeignWords::kSbatchOptions; }

  // sbatch's options where they are ours to pass on, a command's files elsewhere.
  void AfterDashes() {
    if (command_->name == "submit" && current_.starts_with('-')) {
      OfferSbatchOptions();
    } else {
      files_ = true;
    }
  }

  const OptionRow* OptionOf(const std::string& word) {
    const std::string name = word.substr(0, word.starts_with("--") ? word.find('=') : 2);
    for (const OptionRow& option : command_->options) {
      if (!option.positional && IsOneOf(name, option.names)) return &option;
    }
    return TakesSbatchOptions() ? SbatchOptionRow(name) : nullptr;
  }

  const OptionRow* SbatchOptionRow(const std::string& name) {
    for (const SbatchOption& option : SbatchOptionTable()) {
      const std::string letter = option.letter == 0 ? "" : std::string("-") + option.letter;
      const std::string word = "--" + std::string(option.name);
      if (name != word && (letter.empty() || name != letter)) continue;
      of_sbatch_.names = {word};
      of_sbatch_.value = option.takes == Takes::kValue ? "X" : "";
      return &of_sbatch_;
    }
    return nullptr;
  }

  void OfferOptions(const CommandRow& row) {
    for (const OptionRow& option : row.options) {
      if (option.positional) continue;
      const bool has_long = option.names.back().starts_with("--");
      for (const std::string& name : option.names) {
        if (name.starts_with("--") || !has_long) Offer(name, option.description);
      }
    }
  }

  void OfferSbatchOptions() {
    for (const SbatchOption& option : SbatchOptionTable()) {
      Offer("--" + std::string(option.name), "as in sbatch");
    }
  }

  void OfferPositional(size_t number) {
    const OptionRow* last = nullptr;
    for (const OptionRow& option : command_->options) {
      if (!option.positional) break;
      last = &option;
      if (number-- == 0) return OfferValues(option, "");
    }
    if (last != nullptr && last->many) return OfferValues(*last, "");
    if (command_->name == "when") files_ = true;  // a job script
  }

  void OfferValues(const OptionRow& option, const std::string& start) {
    start_ = start;
    switch (ValuesOf(command_->name, option)) {
      case Values::kNothing:
        return;
      case Values::kWords:
        for (const std::string& word : option.words) Offer(word);
        return;
      case Values::kKeyWords:
        for (const std::string& word : KeyOf(option)->words) Offer(word);
        return;
      case Values::kGpus:
        return OfferGpus();
      case Values::kGresTypes:
        return OfferGresTypes("");
      case Values::kGres:
        return OfferGresTypes("gpu:");
      case Values::kCards:
        return OfferCards();
      case Values::kPartitions:
        return OfferPartitions();
      case Values::kModelsAndFiles:
        files_ = true;
        return OfferModels();
      case Values::kModels:
        return OfferModels();
      case Values::kKeys:
        for (const TrainKey& key : TrainKeys()) Offer(std::string(key.name()));
        return;
      case Values::kJobs:
        return OfferJobs("job_id");
      case Values::kJobNames:
        return OfferJobs("name");
      case Values::kObjectives:
        for (const char* word : {"finish", "start", "cost", "deadline"}) Offer(word);
        return;
      case Values::kDeadlines:
        for (const char* word : {"18:00", "fri", "now+12hours", "now+2days"}) Offer(word);
        return;
      case Values::kStates:
        for (const char* word : {"pending", "running", "suspended", "completing", "all"})
          Offer(word);
        return;
      case Values::kTopics:
        for (const HelpTopic& topic : HelpTopics()) Offer(topic.name, topic.title);
        for (size_t i = 1; i < table_.size(); ++i) Offer(table_[i].name, table_[i].description);
        return;
      case Values::kFiles:
        files_ = true;
        return;
    }
  }

  template <typename T>
  T Ask(const std::string& target) {
    if (!api_) {
      const Result<ClientSettings> settings = FindSettings(PlacesFromEnvironment(flags_));
      if (!settings) return {};
      api_ = std::make_unique<DaemonClient>(settings->daemon, kPatience);
    }
    return ReadAnswer<T>(api_->Get(target).value_or(json::object()));
  }

  void OfferGpus() {
    for (const api::GpuType& row : Ask<api::Gpus>("/v1/gpus").gpus) Offer(row.gpu, row.gpu_name);
  }

  void OfferGresTypes(const std::string& start) {
    for (const api::GpuType& row : Ask<api::Gpus>("/v1/gpus").gpus) {
      for (const std::string& type : row.gres_types) Offer(start + type, row.gpu_name);
    }
  }

  void OfferPartitions() {
    for (const api::GpuType& row : Ask<api::Gpus>("/v1/gpus").gpus) {
      for (const std::string& name : row.partitions) Offer(name);
    }
  }

  void OfferCards() {
    std::string ignored;
    const Result<GpuCatalogue> cards = KnownCards({}, own_.gpus_file, &ignored);
    if (!cards) return;
    for (const GpuModel& gpu : cards->models()) Offer(gpu.id, gpu.display_name);
  }

  void OfferModels() {
    const Result<ModelPresets> presets = KnownPresets(own_.models_file);
    if (!presets) return;
    for (const std::string& name : presets->Names()) Offer(name, presets->Find(name)->title);
  }

  // The caller's own: those of the queue and of the log.
  void OfferJobs(const std::string& member) {
    const auto offer = [&](int64_t id, const std::string& name, const std::string& state) {
      if (member == "name") {
        Offer(name);
      } else {
        Offer(std::to_string(id), name + " (" + LowerCase(state) + ")");
      }
    };
    if (!user_.empty()) {
      const std::string target = "/v1/queue?limit=200&user=" + QueryEncoded(user_);
      for (const api::QueueJob& job : Ask<api::Queue>(target).jobs) {
        offer(job.job_id, job.name.value_or(""), job.state);
      }
    }
    if (command_->name == "why") return;  // of jobs that wait or run
    for (const api::Experiment& job : Ask<api::Experiments>("/v1/advice?limit=50").jobs) {
      offer(job.job_id, job.name, job.state);
    }
  }

  void Offer(const std::string& word, const std::string& about = "") {
    if (word.starts_with('-') != current_.starts_with('-') && start_.empty()) return;
    const std::string whole = start_ + word;
    if (whole.starts_with(current_) && IsPlain(whole)) found_.push_back({whole, about});
  }

  const std::string user_;  // whose jobs are offered; "" not known
  OwnCatalogues own_;       // of the user's settings
  const std::vector<CommandRow> table_;
  const std::vector<std::string>& words_;
  const CommandRow* command_ = nullptr;
  OptionRow of_sbatch_;
  std::string current_;
  DaemonFlags flags_;
  std::string start_;  // of the cursor's word, before the value: "--gpu="
  std::unique_ptr<Api> api_;
  std::vector<CompletionWord> found_;
  bool files_ = false;
};

struct CompleteCommand {
  std::vector<std::string> words;
};

int Run(CompleteCommand& command, const CommandContext& context) {
  context.console.PrintDocument(Completion(command.words, context.user_name()).Text());
  return kExitOk;
}

Result<void> Take(CompleteCommand& command, const std::vector<std::string>& words) {
  command.words = words;
  return {};
}

void AddOptions(CompleteCommand&, Options&) {}

}  // namespace

Command MakeCompleteCommand() {
  Command complete =
      MakeCommand<CompleteCommand>("complete", "", AddOptions, Run, Take, ForeignWords::kAll);
  complete.needs_settings = false;
  return complete;
}

}  // namespace gpuadvise::client
