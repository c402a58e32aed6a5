// A script that a training file keeps whole: its text becomes the command, and the figures that an
// advice decides become placeholders in it.
//
// What a job does beside its training (traps, processes in the background, tests, functions, tasks
// of srun, lines after the training) has no other form in a training file, so its text is not taken
// apart. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/script/launch_command.h"
#include "client/shell/shell_script.h"

namespace gpuadvise::client {

// Whether setup lines and one command would not do what the script does. `nodes`: that it asks for.
bool MustStayWhole(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch,
                   int64_t nodes);

// Whether the script may start the training several times: in a loop, or by a function that is not
// called exactly once.
bool RunsSeveralTimes(const std::vector<ScriptStatement>& statements, const LaunchCommand& launch);

class KeptScript {
 public:
  // `statements`: of `text`, which has the launch.
  KeptScript(std::string text, const std::vector<ScriptStatement>& statements,
             const LaunchCommand& launch);

  // Writes `now` in place of `raw`, the value of an option, a variable or a setting called `name`,
  // wherever the pair stands in the training's command, else in assignments before it; not in
  // comments. Takes the pair away if `now` is "". Returns the number of places.
  int Put(std::string_view name, std::string_view raw, std::string_view now);

  // The same in the training's command alone, or in all of the text.
  int PutOfTraining(std::string_view name, std::string_view raw, std::string_view now);
  int PutAnywhere(std::string_view name, std::string_view raw, std::string_view now);

  // Writes {gpus_per_node} in place of `slots` behind the colon of "node1:4" and of sed's
  // "s/$/:4/", in lines that speak of hosts. Returns the number of places.
  int PutSlotsOfHosts(const std::string& slots);

  // The variables that the text assigns, in its order.
  std::vector<std::string> AssignedNames() const;

  // The number, sum or default that the text assigns to a variable exactly once, without quotes
  // around a number; "": it does not.
  std::string Assigned(std::string_view variable) const;

  // Writes `now` in place of what Assigned() says; false: it says nothing.
  bool Assign(std::string_view variable, std::string_view now);

  // Writes `now` in place of a word, where it stands first in the training's command, else in an
  // assignment; false: it stands nowhere.
  bool Replace(std::string_view word, std::string_view now);

  // Adds words to the end of the training's command.
  bool Append(const LaunchCommand& launch, std::string_view words);

  // Whether the text has these words, which begin one of its words; comments do not count.
  bool Mentions(std::string_view text) const;

  // Whether a line before the training goes to another folder.
  bool ChangesFolder() const;

  // Without the interpreter's and the #SBATCH lines, which have keys of their own.
  std::string Body() const;
  const std::string& text() const { return text_; }

 private:
  struct Area {
    size_t begin = 0;
    size_t end = 0;
  };
  Area AssignedIn(std::string_view variable) const;
  int PutIn(size_t area, std::string_view name, std::string_view raw, std::string_view now);
  size_t FindWord(std::string_view word, size_t from, size_t end) const;
  void ReplaceAt(size_t at, size_t length, std::string_view now);
  bool BeginsWord(size_t at) const;
  bool EndsWord(size_t at) const;
  bool IsInComment(size_t at) const;
  size_t ValueAt(size_t at) const;

  std::string text_;
  // The training's command, assignments (first those that hold words of it), then all of the text.
  std::vector<Area> areas_;
  std::string last_word_;  // of that command, as written
};

}  // namespace gpuadvise::client
