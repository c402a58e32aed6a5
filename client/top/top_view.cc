#include "client/top/top_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>

#include "client/api/answer_reader.h"
#include "client/terminal/display.h"
#include "client/terminal/printable.h"
#include "client/views/cluster_tables.h"
#include "common/base/text.h"
#include "common/base/words.h"

namespace gpuadvise::client {
namespace {

using Kind = TopKey::Kind;

constexpr int kHeadLines = 3;  // title, tabs, column headings
constexpr int kFootLines = 1;
constexpr size_t kMostFilter = 64;
constexpr const char* kSortNames[] = {"start", "user", "name", "GPUs", "limit"};
constexpr const char* kHelp[] = {
    "1 2 3, Tab    queue, my jobs, GPUs",
    "arrows, j k   move; PgUp PgDn Home End",
    "Enter, l      show the log of the selected job; again to hide it",
    "s, r          sort by the next column; reverse",
    "/             filter by id, user, name, partition or GPU; Esc clears it",
    "?             this help",
    "q             quit",
};

bool AnyContains(std::initializer_list<std::string_view> texts, const std::string& part) {
  return std::ranges::any_of(
      texts, [&](std::string_view text) { return ContainsIgnoringCase(text, part); });
}

bool Before(const api::QueueJob& a, const api::QueueJob& b, TopSort sort) {
  switch (sort) {
    case TopSort::kUser:
      return a.user < b.user;
    case TopSort::kName:
      return a.name < b.name;
    case TopSort::kGpus:
      return a.gpus > b.gpus;
    case TopSort::kLimit:
      return a.time_limit_seconds < b.time_limit_seconds;
    case TopSort::kStart:
      break;  // the API's own order
  }
  return false;
}

std::vector<api::QueueJob> ShownJobs(const TopData& data, const TopState& state) {
  std::vector<api::QueueJob> jobs = data.queue.jobs;
  std::erase_if(jobs, [&](const api::QueueJob& job) {
    const std::string user = job.user.value_or("");
    return (state.tab == TopTab::kMine && user != data.own_user) ||
           !AnyContains({std::to_string(job.job_id), user, job.name.value_or(""), job.partition,
                         job.gpu_name, job.gres, job.account.value_or("")},
                        state.filter);
  });
  std::ranges::stable_sort(jobs,
                           [&](const auto& a, const auto& b) { return Before(a, b, state.sort); });
  if (state.reverse) std::ranges::reverse(jobs);
  return jobs;
}

std::vector<api::GpuType> ShownGpus(const TopData& data, const TopState& state) {
  std::vector<api::GpuType> gpus = data.gpus.gpus;
  std::erase_if(gpus, [&](const api::GpuType& gpu) {
    return !ContainsIgnoringCase(gpu.gpu_name, state.filter);
  });
  return gpus;
}

// The headings and a line per row.
std::vector<std::string> Table(const TopData& data, const TopState& state, int width) {
  constexpr int kAny = 400;  // what is wider is cut
  if (state.tab == TopTab::kGpus) {
    std::vector<TextColumn> columns = FilledColumns(ShownGpus(data, state), GpusColumns());
    const int room = width - 2;  // beside the mark of the chosen row
    while (columns.size() > 4 && TableWidth(columns) > room) columns.pop_back();
    return TableLines(columns, std::max(width, kAny));
  }
  const char* const names =
      width >= 100 ? "jobid,username,name,gres,timelimit,startsin,starts,ends,partition,why"
                   : "jobid,username,gres,timelimit,startsin,name,partition";
  const auto columns = *QueueColumns({names, false, false}, data.now, width);
  return TableLines(FilledColumns(ShownJobs(data, state), columns), std::max(width, kAny));
}

std::vector<std::string> LogLines(const TopData& data, int most) {
  std::vector<std::string> lines;
  for (const std::string_view line : SplitAt(data.log, '\n')) {
    const std::string_view last = line.substr(line.rfind('\r') + 1);
    lines.push_back(Printable(last));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  if (lines.size() > static_cast<size_t>(most)) lines.erase(lines.begin(), lines.end() - most);
  return lines;
}

int LogHeight(const TopState& state, const TopSize& size) {
  return state.log_of == 0 ? 0 : std::max(3, size.height / 3);
}

std::string TabsText(const TopState& state) {
  const std::string names[] = {"1 Queue", "2 My jobs", "3 GPUs"};
  std::string text;
  for (size_t i = 0; i < 3; ++i) {
    text +=
        (static_cast<size_t>(state.tab) == i ? "[" + names[i] + "]" : " " + names[i] + " ") + " ";
  }
  if (state.tab != TopTab::kGpus) {
    text += fmt::format(" sort: {}{}", kSortNames[static_cast<size_t>(state.sort)],
                        state.reverse ? ", reversed" : "");
  }
  if (state.typing || !state.filter.empty()) {
    text += "  filter: " + state.filter + (state.typing ? "_" : "");
  }
  return text;
}

}  // namespace

std::vector<int64_t> TopRows(const TopData& data, const TopState& state) {
  if (state.tab == TopTab::kGpus) return std::vector<int64_t>(ShownGpus(data, state).size());
  std::vector<int64_t> ids;
  for (const api::QueueJob& job : ShownJobs(data, state)) ids.push_back(job.job_id);
  return ids;
}

TopState AfterKey(TopState state, TopKey key, const std::vector<int64_t>& rows, int page) {
  const size_t last = rows.empty() ? 0 : rows.size() - 1;
  const auto step = static_cast<size_t>(std::max(1, page));
  state.selected = std::min(state.selected, last);
  if (state.typing) {
    if (key.kind == Kind::kCharacter && state.filter.size() < kMostFilter)
      state.filter += key.character;
    if (key.kind == Kind::kBackspace && !state.filter.empty()) state.filter.pop_back();
    if (key.kind == Kind::kEscape) state.filter.clear();
    if (key.kind == Kind::kEnter || key.kind == Kind::kEscape) state.typing = false;
    if (key.kind != Kind::kNone) state.selected = 0;
    return state;
  }
  const auto show_tab = [&](TopTab tab) {
    state.tab = tab;
    state.selected = 0;
  };
  const auto toggle_log = [&] {
    const int64_t job = rows.empty() ? 0 : rows[state.selected];
    state.log_of = state.log_of == job ? 0 : job;
  };
  switch (key.kind) {
    case Kind::kUp:
      state.selected -= state.selected > 0 ? 1 : 0;
      break;
    case Kind::kDown:
      state.selected = std::min(last, state.selected + 1);
      break;
    case Kind::kPageUp:
      state.selected -= std::min(state.selected, step);
      break;
    case Kind::kPageDown:
      state.selected = std::min(last, state.selected + step);
      break;
    case Kind::kHome:
      state.selected = 0;
      break;
    case Kind::kEnd:
      state.selected = last;
      break;
    case Kind::kTab:
      show_tab(static_cast<TopTab>((static_cast<int>(state.tab) + 1) % 3));
      break;
    case Kind::kEnter:
      toggle_log();
      break;
    case Kind::kEscape:
      if (!state.help && state.filter.empty()) state.log_of = 0;
      state.help = false;
      state.filter.clear();
      break;
    case Kind::kBackspace:
    case Kind::kNone:
      break;
    case Kind::kCharacter:
      switch (key.character) {
        case 'q':
          state.quit = true;
          break;
        case '1':
        case '2':
        case '3':
          show_tab(static_cast<TopTab>(key.character - '1'));
          break;
        case 'j':
          return AfterKey(state, {Kind::kDown, '\0'}, rows, page);
        case 'k':
          return AfterKey(state, {Kind::kUp, '\0'}, rows, page);
        case 'l':
          toggle_log();
          break;
        case 's':
          state.sort =
              static_cast<TopSort>((static_cast<size_t>(state.sort) + 1) % std::size(kSortNames));
          break;
        case 'r':
          state.reverse = !state.reverse;
          break;
        case '/':
          state.typing = true;
          break;
        case '?':
        case 'h':
          state.help = !state.help;
          break;
        default:
          break;
      }
  }
  return state;
}

int TopPage(const TopState& state, const TopSize& size) {
  return std::max(1, size.height - kHeadLines - kFootLines - LogHeight(state, size));
}

std::vector<TopLine> DrawTop(const TopData& data, const TopState& state, const TopSize& size) {
  std::vector<TopLine> lines;
  const auto add = [&](const std::string& text, TopStyle style) {
    std::string_view shown = text;
    while (shown.ends_with(' ')) shown.remove_suffix(1);  // a column's padding is nothing cut off
    std::string line = Clipped(size.ascii ? InAscii(shown) : std::string(shown), size.width);
    if (size.ascii) line = InAscii(line);  // the sign of what was cut off
    lines.push_back({std::move(line), style});
  };
  const api::Frame& head = state.tab == TopTab::kGpus ? data.gpus.frame : data.queue.frame;
  add(data.problem.empty()
          ? fmt::format("gpuadvise · {} · {}", Plural(data.queue.total, "job"), ClusterAndAge(head))
          : "gpuadvise · " + data.problem,
      data.problem.empty() ? TopStyle::kTitle : TopStyle::kWarning);
  add(TabsText(state), TopStyle::kPlain);
  const int page = TopPage(state, size);
  if (state.help) {
    for (const char* line : kHelp) add(line, TopStyle::kPlain);
  } else {
    const std::vector<std::string> table = Table(data, state, size.width);
    const size_t rows = table.size() - 1;
    add(table.front(), TopStyle::kHeader);
    if (rows == 0) add("nothing to show", TopStyle::kDim);
    const size_t selected = std::min(state.selected, rows == 0 ? 0 : rows - 1);
    const size_t first =
        selected < static_cast<size_t>(page) ? 0 : selected - static_cast<size_t>(page) + 1;
    for (size_t i = first; i < rows && i < first + static_cast<size_t>(page); ++i) {
      add(table[i + 1], i == selected ? TopStyle::kSelected : TopStyle::kPlain);
    }
  }
  const int log_height = LogHeight(state, size);
  const auto above = static_cast<size_t>(std::max(0, size.height - kFootLines - log_height));
  if (lines.size() > above) lines.resize(above);
  while (lines.size() < above) add("", TopStyle::kPlain);
  if (log_height > 0) {
    add(fmt::format("log of job {} · {}", state.log_of, Printable(data.log_path)),
        TopStyle::kHeader);
    for (const std::string& line : LogLines(data, log_height - 1)) add(line, TopStyle::kPlain);
    while (lines.size() < static_cast<size_t>(std::max(0, size.height - kFootLines)))
      add("", TopStyle::kPlain);
  }
  add("q quit · ? help · / filter · s sort · Enter log · Tab next view", TopStyle::kDim);
  if (lines.size() > static_cast<size_t>(size.height))
    lines.resize(static_cast<size_t>(size.height));
  return lines;
}

}  // namespace gpuadvise::client
