// A script that a training file keeps whole: its text becomes the command, and the figures that an
// advice decides become placeholders in it.
//
// What a job does beside its training (traps, processes in the background, tests, functions, tasks
// of srun, lines after the training) has no other form in a training file, so its text is not taken
// apart. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/launch_command.h"
#include "client/shell/shell_script.h"

namespace gpuadvise::client {

// Whether setup lines and one command would not do what the script does.
bool MustStayWhole(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch);

// Whether the script may start the training several times: in a loop, or by a function that is not
// called exactly once.
bool RunsSeveralTimes(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch);

class KeptScript {
 public:
  // `training`: the statement of `text` that has the launch.
  KeptScript(std::string text, const ScriptStatement& training, const LaunchCommand& launch);

  // Writes `now` in place of `raw`, the value of an option, a variable or a setting called `name`,
  // wherever the pair stands up to the end of the training's statement; not in comments. Returns
  // the number of places.
  int Put(std::string_view name, std::string_view raw, std::string_view now);

  // The same in the training's statement alone; takes the pair away if `now` is "".
  int PutOfTraining(std::string_view name, std::string_view raw, std::string_view now);

  // Writes `now` as the value of a variable that the text assigns exactly once, as a number, a sum
  // or a default; false: it does not.
  bool Assign(std::string_view variable, std::string_view now);

  // Writes `now` in place of a word, where it stands last up to the end of the training's
  // statement; false: it stands nowhere.
  bool Replace(std::string_view word, std::string_view now);

  // Adds words to the end of the training's command.
  bool Append(const LaunchCommand& launch, std::string_view words);

  // Without the interpreter's and the #SBATCH lines, which have keys of their own.
  std::string Body() const;
  const std::string& text() const { return text_; }

 private:
  int PutFrom(size_t from, std::string_view name, std::string_view raw, std::string_view now);
  void ReplaceAt(size_t at, size_t length, std::string_view now);
  bool BeginsWord(size_t at) const;
  bool EndsWord(size_t at) const;
  bool IsInComment(size_t at) const;
  size_t ValueAt(size_t at) const;

  std::string text_;
  size_t begin_;  // of the training's statement
  size_t end_;
  std::string last_word_;  // of its command, as written
};

}  // namespace gpuadvise::client
