# gpuadvise_precompile(TARGET [HEADER...]): parses the headers that nearly every file of TARGET
# includes once (common/precompiled.h, and HEADERs such as <gtest/gtest.h>). A first build takes about a third less
# time. The presets asan, tsan and fuzz do without, so that each file's own includes stay honest.
function(gpuadvise_precompile target)
  target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/common/precompiled.h ${ARGN})
endfunction()
