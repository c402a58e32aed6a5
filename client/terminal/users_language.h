// The language of the person at the terminal.
#pragma once

#include <string>
#include <string_view>

namespace gpuadvise::client {

// The language that the environment asks for, as gettext chooses it: the first of LANGUAGE (a list,
// unless the locale is C), LC_ALL, LC_MESSAGES and LANG that is set, such as "ko" of
// "ko_KR.UTF-8". "" for English, for C and POSIX, and where the locale's encoding is not UTF-8.
std::string WantedLanguage(const char* (*environment)(const char* name));

// From now on texts are shown in `language` ("ko"), where there is a catalogue of it. Once, at the
// start, before any text is shown; not for answers that programs read.
void ChooseLanguage(const std::string& language);

// `english` in the language that was chosen.
std::string InUsersLanguage(std::string_view english);

}  // namespace gpuadvise::client
