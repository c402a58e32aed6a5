# gpuadvise_embed(TARGET NAMESPACE_NAME FILE): compiles FILE's bytes into a library TARGET that
# offers `std::string_view gpuadvise::<NAME>()` in "embedded/<TARGET>.h". The defaults travel inside
# the binaries, so that no program has to search for them.
function(gpuadvise_embed target name file)
  set(dir ${PROJECT_BINARY_DIR}/generated/embedded)
  get_filename_component(source ${file} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  file(MAKE_DIRECTORY ${dir})
  file(WRITE ${dir}/${target}.h.in "#pragma once\n#include <string_view>\nnamespace gpuadvise {\nstd::string_view ${name}();\n}\n")
  configure_file(${dir}/${target}.h.in ${dir}/${target}.h COPYONLY)
  add_custom_command(
    OUTPUT ${dir}/${target}.cc
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${source} -DTARGET=${target} -DNAME=${name} -DOUTPUT=${dir}/${target}.cc
            -P ${PROJECT_SOURCE_DIR}/packaging/cmake/embed_file.cmake
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/packaging/cmake/embed_file.cmake
    VERBATIM)
  add_library(${target} STATIC ${dir}/${target}.cc)
  target_link_libraries(${target} PUBLIC gpuadvise_flags)
  # Bytes are nobody's style, and clang-tidy runs before they are made.
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
endfunction()
