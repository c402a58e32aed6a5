# Completion of gpuadvise in fish. `gpuadvise complete` says what may stand at the cursor; nothing
# of its answer is evaluated.
function __gpuadvise_candidates
    set -l words (commandline -opc)
    set -e words[1]
    set -l current (commandline -ct)
    for line in (command gpuadvise complete $words "$current" 2>/dev/null)
        if test "$line" = ":files"
            __fish_complete_path (string replace -r -- '^--[^=]*=' '' "$current")
        else
            printf '%s\n' "$line"
        end
    end
end
complete -c gpuadvise -f -a '(__gpuadvise_candidates)'
