// Checks that a job's programs, scripts, settings, data, container image and login to the Hugging
// Face Hub exist.
//
// If `setup:` or a container may provide something at run time, its absence is only a warning.
// Pure functions.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "client/preflight/preflight.h"
#include "client/script/command_conflicts.h"
#include "client/script/script_text.h"
#include "client/shell/shell_text.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using Kind = PathFacts::Kind;

bool MayComeLater(const JobPlan& plan) { return plan.has_setup || !plan.container.empty(); }

Health ErrorUnless(bool excused) { return excused ? Health::kWarning : Health::kError; }

const char* WhoMayBringIt(const JobPlan& plan) {
  return plan.container.empty() ? "setup: may bring it" : "the container may hold it";
}

// "$1" in a command of one line, which neither sets it nor has functions; "": none.
std::string ArgumentOfNobody(const nlohmann::json& spec) {
  const auto command = spec.find("command");
  if (command == spec.end() || !command->is_string()) return {};
  const auto text = command->get<std::string>();
  for (const char* sets : {"\n", "set -- ", "()", "function ", "<<"}) {
    if (text.find(sets) != std::string::npos) return {};
  }
  const std::string argument = ScriptArgumentIn(text);
  return argument.size() == 2 && IsDigit(argument[1]) ? argument : "";
}

bool IsThisNode(std::string_view address) {
  while (address.starts_with('"') || address.starts_with('\'')) address.remove_prefix(1);
  return address.starts_with("localhost") || address.starts_with("127.");
}

// "MASTER_ADDR=localhost" of env or setup; "": they say nothing, or another place.
std::string LocalRendezvous(const nlohmann::json& spec) {
  constexpr std::string_view kName = "MASTER_ADDR";
  const nlohmann::json env = spec.value("env", nlohmann::json::object());
  if (const auto said = env.find(kName); said != env.end() && said->is_string()) {
    const auto address = said->get<std::string>();
    if (IsThisNode(address)) return fmt::format("{}={}", kName, address);
  }
  for (const nlohmann::json& line : spec.value("setup", nlohmann::json::array())) {
    if (!line.is_string()) continue;
    const auto text = line.get<std::string>();
    const size_t at = text.find(fmt::format("{}=", kName));
    if (at == std::string::npos || (at > 0 && IsNamePart(text[at - 1]))) continue;
    if (IsThisNode(std::string_view(text).substr(at + kName.size() + 1))) return text;
  }
  return {};
}

Check MissingProgram(const JobPlan& plan, const ProgramFacts& program) {
  const bool is_path = program.name.starts_with('/');
  std::string finding =
      program.name + (is_path ? " is not an executable program" : " is not in PATH here");
  if (MayComeLater(plan)) {
    finding += fmt::format("; {}", WhoMayBringIt(plan));
  } else if (program.may_be_brought) {
    finding += "; an earlier part of the command may bring it";
  } else {
    finding += is_path ? "; check the path, or `chmod +x` it"
                       : "; load its environment in setup:, like `source ~/venv/bin/activate`";
  }
  return {ErrorUnless(MayComeLater(plan) || program.may_be_brought), "program", finding};
}

// Whether a path is on a node's local disk, which cannot be checked here.
bool IsNodesOwn(const std::string& path) {
  constexpr std::array<std::string_view, 6> kLocal = {"/tmp/",   "/var/tmp/",   "/dev/shm/",
                                                      "/local/", "/localdisk/", "/local_scratch/"};
  return std::any_of(kLocal.begin(), kLocal.end(),
                     [&](std::string_view folder) { return path.starts_with(folder); });
}

std::string DescribeTrouble(const JobPath& file) {
  if (!file.found.trouble.empty()) return "cannot be looked at: " + file.found.trouble;
  if (!file.found.exists()) return "does not exist";
  if (!file.found.readable) return "is not readable";
  return {};
}

std::string NameAndPath(const JobPath& file) {
  return file.name.ends_with(file.found.path) ? file.name
                                              : fmt::format("{} ({})", file.name, file.found.path);
}

struct FileKind {
  const char* subject;
  bool matters;  // missing ones are errors
};

std::vector<Check> CheckFiles(const std::vector<JobPath>& files, const FileKind& kind,
                              const JobPlan& plan) {
  std::vector<Check> checks;
  std::vector<std::string> fine;
  for (const JobPath& file : files) {
    const std::string trouble = DescribeTrouble(file);
    if (trouble.empty()) {
      fine.push_back(file.name);
      continue;
    }
    const bool excused =
        MayComeLater(plan) || file.may_be_hub || file.may_be_made || IsNodesOwn(file.found.path);
    std::string finding = NameAndPath(file) + " " + trouble;
    if (file.may_be_hub) {
      finding += "; fine where it is a name on the Hugging Face Hub";
    } else if (MayComeLater(plan)) {
      finding += fmt::format("; {}", WhoMayBringIt(plan));
    } else if (file.may_be_made) {
      finding += "; an earlier part of the command may make it";
    } else {
      const bool absolute = file.name.ends_with(file.found.path);
      finding +=
          absolute ? "; correct its path" : "; correct it, or workdir: that it is relative to";
    }
    checks.push_back(
        {kind.matters ? ErrorUnless(excused) : Health::kWarning, kind.subject, finding});
  }
  if (!fine.empty()) checks.push_back({Health::kOk, kind.subject, JoinNames(fine)});
  return checks;
}

void Append(std::vector<Check> more, std::vector<Check>* checks) {
  std::move(more.begin(), more.end(), std::back_inserter(*checks));
}

std::vector<std::string> ModelNames(const std::vector<HubModel>& models,
                                    bool (*wanted)(const HubModel&)) {
  std::vector<std::string> names;
  for (const HubModel& model : models) {
    if (wanted(model)) names.push_back(model.name);
  }
  return names;
}

Check NoLogin(const JobPlan& plan, const JobFacts& facts) {
  const HubLogin& login = facts.login;
  const std::string remedy = fmt::format(
      "no login was found (HF_TOKEN, {}): `hf auth login`, or HF_TOKEN in your environment",
      login.token_file);
  const auto gated =
      ModelNames(facts.hub_models, [](const HubModel& m) { return IsGated(m.name); });
  if (facts.pushes_to_hub) {
    return {ErrorUnless(plan.has_setup), "login", "--push_to_hub needs one, but " + remedy};
  }
  if (!gated.empty()) {
    const bool there = std::all_of(facts.hub_models.begin(), facts.hub_models.end(),
                                   [](const HubModel& model) { return model.cached; });
    return {ErrorUnless(there || plan.has_setup), "login",
            fmt::format("{} asks for a licence to be accepted, but {}", JoinNames(gated), remedy)};
  }
  const auto remote = ModelNames(facts.hub_models, [](const HubModel& m) { return !m.cached; });
  if (remote.empty()) return {Health::kOk, "login", "not needed: the model is in " + login.cache};
  return {Health::kWarning, "login",
          fmt::format("{} comes from the Hugging Face Hub and {}; a public model needs none",
                      JoinNames(remote), remedy)};
}

}  // namespace

std::vector<Check> ProgramChecks(const JobPlan& plan, const JobFacts& facts) {
  std::vector<Check> checks;
  std::vector<std::string> fine;
  for (const ProgramFacts& program : facts.programs) {
    if (program.path.empty()) {
      checks.push_back(MissingProgram(plan, program));
    } else if (std::find(fine.begin(), fine.end(), program.path) == fine.end()) {
      fine.push_back(program.path);
    }
  }
  if (!fine.empty()) checks.push_back({Health::kOk, "program", JoinNames(fine)});
  if (facts.programs.empty() && !plan.command.empty()) {
    checks.push_back(
        {Health::kOk, "program", "only the shell knows what the command runs: not checked"});
  }
  return checks;
}

std::vector<Check> FileChecks(const JobPlan& plan, const JobFacts& facts) {
  std::vector<Check> checks = CheckFiles(facts.scripts, {"script", true}, plan);
  Append(CheckFiles(facts.settings, {"settings", false}, plan), &checks);
  Append(CheckFiles(facts.data, {"data", true}, plan), &checks);
  return checks;
}

std::vector<Check> ContainerChecks(const JobPlan& plan, const JobFacts& facts) {
  if (plan.container.empty()) return {};
  std::vector<Check> checks;
  if (plan.container.find("://") != std::string::npos) {
    checks.push_back({Health::kOk, "container",
                      plan.container + " is fetched when the job starts; `apptainer pull` it once "
                                       "to make that a file"});
  } else if (!facts.container || !facts.container->only_in_job.empty()) {
    checks.push_back(
        {Health::kOk, "container", plan.container + " is known only at run time: not checked"});
  } else if (const std::string trouble = DescribeTrouble(*facts.container); !trouble.empty()) {
    checks.push_back({Health::kError, "container",
                      facts.container->found.path + " " + trouble + "; correct container:"});
  } else {
    checks.push_back({Health::kOk, "container", facts.container->found.path});
  }
  if (facts.apptainer.empty()) {
    checks.push_back({Health::kWarning, "container",
                      "apptainer is not in PATH here; fine where the nodes have it, otherwise load "
                      "it in setup:"});
  }
  return checks;
}

std::vector<Check> LoginChecks(const JobPlan& plan, const JobFacts& facts) {
  if (facts.hub_models.empty() && !facts.pushes_to_hub) return {};
  const auto remote = ModelNames(facts.hub_models, [](const HubModel& m) { return !m.cached; });
  if (facts.login.offline) {
    if (remote.empty()) return {{Health::kOk, "login", "offline; all is in " + facts.login.cache}};
    return {{Health::kWarning, "login",
             fmt::format("HF_HUB_OFFLINE is set, but {} is not in {}: `hf download` it first",
                         JoinNames(remote), facts.login.cache)}};
  }
  if (facts.login.token_from.empty()) return {NoLogin(plan, facts)};
  return {{Health::kOk, "login", "from " + facts.login.token_from}};
}

std::vector<Check> ObedienceChecks(const nlohmann::json& spec, const api::Strategy& strategy) {
  std::vector<Check> checks;
  if (const std::string place = LocalRendezvous(spec); strategy.nodes > 1 && !place.empty()) {
    checks.push_back(
        {Health::kError, "command",
         fmt::format("{} is this node alone, where the {} nodes of this strategy would "
                     "wait for each other: take it out, submit sets MASTER_ADDR",
                     place, strategy.nodes)});
  }
  if (const std::string argument = ArgumentOfNobody(spec); !argument.empty()) {
    checks.push_back({Health::kError, "command",
                      argument + " is an argument of a script, which a job does not get: write its "
                                 "value into command:, or set -- VALUES before it"});
  }
  for (const CommandConflict& conflict : ConflictsOf(spec, strategy)) {
    checks.push_back(
        {conflict.certain ? Health::kError : Health::kWarning, "command", SentenceOf(conflict)});
  }
  return checks;
}

}  // namespace gpuadvise::client
