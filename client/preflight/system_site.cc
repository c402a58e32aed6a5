#include "client/preflight/system_site.h"

#include <unistd.h>

#include <filesystem>
#include <string_view>

#include "client/preflight/command_names.h"
#include "client/shell/shell_words.h"
#include "common/process/name_service.h"
#include "common/process/run_program.h"

extern char** environ;

namespace gpuadvise::client {
namespace {

constexpr std::chrono::seconds kQuotaDeadline(5);

JobPath InspectPath(const std::string& name, const ShellText& expanded, const std::string& folder) {
  JobPath path{name,  {},   expanded.only_in_job, expanded.not_set, expanded.has_command,
               false, false};
  std::string known = expanded.text;
  // Keeps the folders before the part that only the job knows.
  if (!expanded.only_in_job.empty()) known.resize(known.rfind('/') + 1);
  if (known.empty()) known = ".";
  path.found = LookAtPath(PathBeside(folder, known));
  return path;
}

bool IsAddress(const std::string& image) { return image.find("://") != std::string::npos; }

// Whether a path is known: a relative one in an unknown folder is not.
bool IsPlaced(const ShellText& path, const std::string& folder) {
  return !folder.empty() || path.text.starts_with('/');
}

// The path; "" if a part is known only in the job.
std::string WholePath(const std::optional<JobPath>& path) {
  const bool whole =
      path && path->only_in_job.empty() && path->not_set.empty() && !path->has_command;
  return whole ? path->found.path : "";
}

// Fills in %x and %u of sbatch's --output; only the job knows the others.
std::string WithKnownPatterns(std::string pattern, const std::string& job_name,
                              const Variables& variables) {
  const auto user = variables.find("USER");
  const std::string user_name = user == variables.end() ? UserName(::geteuid()) : user->second;
  for (const auto& [mark, value] : {std::pair{"%x", &job_name}, std::pair{"%u", &user_name}}) {
    if (value->empty()) continue;
    for (size_t at = pattern.find(mark); at != std::string::npos;
         at = pattern.find(mark, at + value->size())) {
      pattern.replace(at, 2, *value);
    }
  }
  return pattern;
}

// The folder of a log; sbatch does not expand variables in it.
JobPath LogFolder(const std::string& pattern, const JobPlan& plan, const Variables& variables,
                  const std::string& folder) {
  const std::string known = WithKnownPatterns(pattern, plan.job_name, variables);
  ShellText text;
  const size_t slash = known.rfind('/');
  text.text = slash == std::string::npos ? "" : known.substr(0, slash + 1);
  if (const size_t mark = text.text.find('%'); mark != std::string::npos) {
    text.only_in_job = text.text.substr(mark, 2);
    text.text.resize(mark);
  }
  return InspectPath(pattern, text, folder);
}

Variables JobVariables(Variables variables, const JobPlan& plan, const std::string& output) {
  if (!plan.output_dir.empty()) variables["GPUADVISE_OUTPUT_DIR"] = output;
  for (const auto& [name, value] : plan.env) variables[name] = ExpandText(value, variables).text;
  return variables;
}

std::vector<JobPath> LookAtNamed(const std::vector<NamedPath>& names) {
  std::vector<JobPath> paths;
  for (const NamedPath& name : names) {
    paths.push_back(
        {name.name, LookAtPath(name.path), "", "", false, name.may_be_hub, name.may_be_made});
  }
  return paths;
}

ProgramFacts FindProgram(const std::string& name, const Variables& variables) {
  if (name.starts_with('/')) return {name, ::access(name.c_str(), X_OK) == 0 ? name : "", false};
  const auto path = variables.find("PATH");
  return {name, FindInPath(name, path == variables.end() ? nullptr : path->second.c_str()), false};
}

void AskForQuota(const Variables& environment, JobFacts* facts) {
  const std::string program = FindProgram("quota", environment).path;
  if (program.empty()) return;
  // Not every quota has -p (raw grace times). A non-zero exit status may mean an exceeded quota.
  ProgramCall call;
  call.child.errors = ChildErrors::kDiscarded;
  call.deadline = kQuotaDeadline;
  for (const auto& words : {std::vector{program, std::string("-w"), std::string("-p")},
                            std::vector{program, std::string("-w")}}) {
    call.command.words = words;
    const auto end = RunToCompletion(call);
    if (!end) {
      facts->quota_trouble = end.error().message;
      return;
    }
    const std::vector<DiskQuota> quotas = ParseQuota(end->output);
    facts->quota_asked = true;
    facts->quota =
        QuotaOf(quotas, facts->output->found.mount_source, facts->output->found.mount_point);
    if (!quotas.empty()) return;
  }
}

void LookAtCommand(const CommandNames& names, const Variables& variables, JobFacts* facts) {
  for (const NamedProgram& program : names.programs) {
    facts->programs.push_back(FindProgram(program.name, variables));
    facts->programs.back().may_be_brought = program.may_be_brought;
  }
  facts->scripts = LookAtNamed(names.scripts);
  facts->settings = LookAtNamed(names.settings);
  facts->data = LookAtNamed(names.data);
  for (const NamedPath& model : names.hub_models) {
    const bool is_folder = !model.path.empty() && LookAtPath(model.path).exists();
    if (!is_folder) {
      facts->hub_models.push_back({model.name, IsInHubCache(facts->login.cache, model.name)});
    }
  }
  facts->pushes_to_hub = names.pushes_to_hub;
}

// Completes the facts from the command where the training file is silent.
void TakeFromCommand(const CommandNames& names, const JobPlan& plan, JobFacts* facts) {
  if (!facts->output && !names.output_dir.empty()) {
    facts->output =
        JobPath{"--output_dir", LookAtPath(names.output_dir), "", "", false, false, false};
  }
  facts->checkpoints = plan.checkpoints;
  if (!facts->checkpoints.keep) facts->checkpoints.keep = names.save_total_limit;
  if (!facts->checkpoints.save_steps) facts->checkpoints.save_steps = names.save_steps;
}

}  // namespace

Variables VariablesOfThisProcess() {
  Variables variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view entry(*each);
    const size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    variables[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return variables;
}

SystemSite SystemSite::OfThisProcess() {
  std::error_code error;
  return {VariablesOfThisProcess(), std::filesystem::current_path(error).string()};
}

JobFacts SystemSite::Inspect(const JobPlan& plan) {
  JobFacts facts;
  const std::string start = PathBeside(folder_, plan.chdir);
  std::string folder = start.empty() ? folder_ : start;
  for (const std::string& log : plan.logs) {
    facts.logs.push_back(LogFolder(log, plan, environment_, folder));
  }
  // As in the script, the output folder is expanded before the user's variables are set.
  const ShellText output = ExpandText(plan.output_dir, environment_);
  const Variables variables = JobVariables(environment_, plan, output.text);
  if (!plan.workdir.empty()) {
    const ShellText workdir = ExpandText(plan.workdir, variables);
    facts.workdir = InspectPath(plan.workdir, workdir, folder);
    folder = workdir.only_in_job.empty() ? facts.workdir->found.path : "";
  }
  if (!plan.output_dir.empty() && IsPlaced(output, folder)) {
    facts.output = InspectPath(plan.output_dir, output, folder);
  }
  facts.outcome_folder = plan.output_dir.empty() ? folder : WholePath(facts.output);
  const ShellText image = ExpandText(plan.container, variables);
  if (!plan.container.empty() && !IsAddress(plan.container) && IsPlaced(image, folder)) {
    facts.container = InspectPath(plan.container, image, folder);
  }
  facts.apptainer = FindProgram("apptainer", variables).path;
  facts.login = LookForHubLogin(variables);
  const CommandNames names = NamesIn(SimpleCommands(plan.command, variables), folder);
  LookAtCommand(names, variables, &facts);
  TakeFromCommand(names, plan, &facts);
  if (facts.output && facts.output->found.space) AskForQuota(environment_, &facts);
  return facts;
}

}  // namespace gpuadvise::client
