# Writes OUTPUT: a C++ file that holds the files of the dashboard, built from SOURCE in WORK.
#
# What is missing to get npm's packages leaves the page out, aloud; a page that does not compile
# fails the build.
set(head "#include \"embedded/page_files.h\"\nnamespace gpuadvise {\n")
set(tail "}  // namespace gpuadvise\n")

function(write_no_page reason)
  message(WARNING "gpuadvised is built without its dashboard: ${reason}. Everything else works; install "
                  "nodejs and npm, and build again, to have it.")
  file(WRITE ${OUTPUT} "${head}std::span<const PageFile> PageFiles() { return {}; }\n${tail}")
endfunction()

# Sets OUT to FILE's bytes as a C array's members.
function(bytes_of file out)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  set(${out} "${bytes}" PARENT_SCOPE)
endfunction()

function(content_type_of file out)
  set(types .html "text/html\; charset=utf-8" .js text/javascript .css text/css .svg image/svg+xml
            .png image/png .ico image/x-icon .json application/json .webmanifest application/manifest+json)
  get_filename_component(extension ${file} LAST_EXT)
  list(FIND types ${extension} at)
  if(at LESS 0)
    message(FATAL_ERROR "the dashboard has a file of an unknown kind: ${file}; add its type to packaging/cmake/build_page.cmake")
  endif()
  math(EXPR at "${at} + 1")
  list(GET types ${at} type)
  set(${out} "${type}" PARENT_SCOPE)
endfunction()

if(NOT NPM)
  write_no_page("there is no npm")
  return()
endif()
if(NOT GZIP)
  write_no_page("there is no gzip")
  return()
endif()

file(REMOVE_RECURSE ${WORK}/src ${WORK}/public)  # what is no longer there must not be built
file(COPY ${SOURCE}/ DESTINATION ${WORK} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE PATTERN test EXCLUDE)
file(SHA256 ${SOURCE}/package-lock.json locked)
set(stamp ${WORK}/installed-packages)
set(installed "")
if(EXISTS ${stamp})
  file(READ ${stamp} installed)
endif()
if(NOT installed STREQUAL locked)
  execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund WORKING_DIRECTORY ${WORK}
                  RESULT_VARIABLE status OUTPUT_VARIABLE said ERROR_VARIABLE said TIMEOUT 900)
  # These say that web/ itself is wrong; any other failure is a matter of the machine.
  if(said MATCHES "EUSAGE|EJSONPARSE|EINTEGRITY")
    message(FATAL_ERROR "npm does not take web/package.json with web/package-lock.json:\n${said}")
  endif()
  if(NOT status EQUAL 0)
    write_no_page("npm ci failed (${status}):\n${said}\n")
    return()
  endif()
  file(WRITE ${stamp} ${locked})
endif()

file(REMOVE_RECURSE ${WORK}/dist)
execute_process(COMMAND ${NPM} run build WORKING_DIRECTORY ${WORK} RESULT_VARIABLE status OUTPUT_VARIABLE said
                ERROR_VARIABLE said)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "the dashboard does not build:\n${said}")
endif()

file(GLOB_RECURSE built RELATIVE ${WORK}/dist ${WORK}/dist/*)
list(SORT built)
set(arrays "")
set(rows "")
set(number 0)
foreach(file IN LISTS built)
  execute_process(COMMAND ${GZIP} -9 -n -c ${WORK}/dist/${file} OUTPUT_FILE ${WORK}/compressed RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${file} cannot be compressed")
  endif()
  bytes_of(${WORK}/dist/${file} bytes)
  bytes_of(${WORK}/compressed gzip)
  content_type_of(${file} type)
  string(APPEND arrays "constexpr unsigned char kBytes${number}[] = {${bytes}0};\n"
                       "constexpr unsigned char kGzip${number}[] = {${gzip}0};\n")
  string(APPEND rows "    {\"/${file}\", \"${type}\", View(kBytes${number}), View(kGzip${number})},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(WRITE ${OUTPUT}
     "${head}namespace {\n${arrays}"
     "template <size_t kSize>\nstd::string_view View(const unsigned char (&bytes)[kSize]) {\n"
     "  return {reinterpret_cast<const char*>(bytes), kSize - 1};\n}\n"
     "const PageFile kFiles[] = {\n${rows}};\n}  // namespace\n"
     "std::span<const PageFile> PageFiles() { return kFiles; }\n${tail}")
