# gpuadvise_room(TARGET [HOT] [SOURCES file...] [USES room...] [LINKS library...] [PRIVATE_LINKS library...]):
# one folder as one library; without SOURCES it has headers alone. USES names the rooms whose headers it may include; it
# may also include what those use. These lines are the architecture: tests/layers/layers_test.py reads them and holds
# every include against them. HOT: an answer's time goes into it, so a release build compiles it with all of -O2; the other
# rooms take -O1, a quarter less time to compile.
function(gpuadvise_room target)
  cmake_parse_arguments(room "HOT" "" "SOURCES;USES;LINKS;PRIVATE_LINKS" ${ARGN})
  if(NOT room_SOURCES)
    add_library(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE gpuadvise_flags ${room_USES} ${room_LINKS})
    return()
  endif()
  add_library(${target} STATIC ${room_SOURCES})
  target_link_libraries(${target} PUBLIC gpuadvise_flags ${room_USES} ${room_LINKS} PRIVATE ${room_PRIVATE_LINKS})
  if(NOT room_HOT)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  gpuadvise_precompile(${target})
endfunction()
