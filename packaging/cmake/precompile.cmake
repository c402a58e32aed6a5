# gpuadvise_precompile(TARGET): parses the headers that nearly every file includes
# (common/base/precompiled.h) once for all targets, and gpuadvise_precompile_tests(TARGET) those of
# tests as well (<gtest/gtest.h>, <rapidcheck/gtest.h>). A first build takes about a third less time.
# The presets asan, tsan and fuzz do without, so that each file's own includes stay honest.
function(gpuadvise_precompile target)
  if(target STREQUAL common_base)
    target_precompile_headers(${target} PRIVATE ${PROJECT_SOURCE_DIR}/common/base/precompiled.h)
  else()
    target_precompile_headers(${target} REUSE_FROM common_base)
  endif()
endfunction()

function(gpuadvise_precompile_tests target)
  if(NOT TARGET test_headers)
    file(WRITE ${PROJECT_BINARY_DIR}/generated/test_headers.cc "// Holds the precompiled headers of tests.\n")
    add_library(test_headers OBJECT ${PROJECT_BINARY_DIR}/generated/test_headers.cc)
    target_link_libraries(test_headers PRIVATE common_base rapidcheck rapidcheck_gtest GTest::gtest)
    target_precompile_headers(test_headers PRIVATE ${PROJECT_SOURCE_DIR}/common/base/precompiled.h <gtest/gtest.h>
                                                   <rapidcheck/gtest.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM test_headers)
endfunction()

# ccache takes no unit with precompiled headers unless it may overlook their time macros, which nothing here uses, and
# unless GCC names the header in what it preprocesses.
if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache$" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  list(PREPEND CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros)
  target_compile_options(gpuadvise_flags INTERFACE -fpch-preprocess)
endif()
