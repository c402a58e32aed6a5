# Completion of gpuadvise in bash. `gpuadvise complete` says what may stand at the cursor; nothing
# of its answer is evaluated.
_gpuadvise() {
  local cur words cword line
  local -a lines
  COMPREPLY=()
  _get_comp_words_by_ref -n '=:' cur words cword || return 0
  mapfile -t lines < <(command gpuadvise complete "${words[@]:1:cword}" 2>/dev/null)
  # bash replaces only what follows the last = or : of the word.
  local start=${cur%"${cur##*[=:]}"}
  for line in "${lines[@]}"; do
    if [[ $line == :files ]]; then
      cur=${cur#"$start"} _filedir
    else
      line=${line%%$'\t'*}
      COMPREPLY+=("${line#"$start"}")
    fi
  done
} &&
  complete -F _gpuadvise gpuadvise
