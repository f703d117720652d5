# The libraries of others that the code is made with. What is missing is named all at once.
set(missing "")

# needs(PACKAGE VARIABLE...): what the Debian package PACKAGE brings was found.
function(needs package)
  foreach(variable IN LISTS ARGN)
    if(NOT ${variable})
      list(APPEND missing ${package})
      set(missing ${missing} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

find_package(CLI11 QUIET)
find_package(fmt QUIET)
find_package(nlohmann_json QUIET)
find_package(PNG 1.6 QUIET)
find_package(pugixml QUIET)
find_package(spdlog QUIET)
find_package(Threads REQUIRED)
find_package(ZLIB 1.2.12 QUIET)
needs(libcli11-dev CLI11_FOUND)
needs(libfmt-dev fmt_FOUND)
needs(nlohmann-json3-dev nlohmann_json_FOUND)
needs(libpng-dev PNG_FOUND)
needs(libpugixml-dev pugixml_FOUND)
needs(libspdlog-dev spdlog_FOUND)
needs(zlib1g-dev ZLIB_FOUND)

# These have no CMake packages of their own everywhere; of xxHash and Highway only headers are used.
find_path(BTF_HIGHWAY_INCLUDE_DIR hwy/highway.h DOC "Where hwy/highway.h is (Debian: libhwy-dev)")
find_path(BTF_ISAL_INCLUDE_DIR isa-l/crc.h DOC "Where isa-l/crc.h is (Debian: libisal-dev)")
find_path(BTF_XXHASH_INCLUDE_DIR xxhash.h DOC "Where xxhash.h is (Debian: libxxhash-dev)")
find_path(BTF_ZSTD_INCLUDE_DIR zstd.h DOC "Where zstd.h is (Debian: libzstd-dev)")
find_library(BTF_ISAL_LIBRARY isal DOC "ISA-L")
find_library(BTF_ZSTD_LIBRARY zstd DOC "libzstd")
needs(libhwy-dev BTF_HIGHWAY_INCLUDE_DIR)
needs(libisal-dev BTF_ISAL_INCLUDE_DIR BTF_ISAL_LIBRARY)
needs(libxxhash-dev BTF_XXHASH_INCLUDE_DIR)
needs(libzstd-dev BTF_ZSTD_INCLUDE_DIR BTF_ZSTD_LIBRARY)
mark_as_advanced(BTF_HIGHWAY_INCLUDE_DIR BTF_ISAL_INCLUDE_DIR BTF_XXHASH_INCLUDE_DIR
  BTF_ZSTD_INCLUDE_DIR BTF_ISAL_LIBRARY BTF_ZSTD_LIBRARY)

# As static libraries: for the Python package, and for a program that runs anywhere.
if(BTF_STATIC OR BTF_PYTHON)
  find_path(BTF_DEFLATE_INCLUDE_DIR libdeflate.h DOC "Where libdeflate.h is (Debian: libdeflate-dev)")
  find_library(BTF_DEFLATE_STATIC libdeflate.a DOC "libdeflate, static")
  find_library(BTF_PNG_STATIC libpng.a DOC "libpng, static")
  find_library(BTF_ZLIB_STATIC libz.a DOC "zlib, static")
  find_library(BTF_ZSTD_STATIC libzstd.a DOC "libzstd, static")
  needs(libdeflate-dev BTF_DEFLATE_INCLUDE_DIR BTF_DEFLATE_STATIC)
  needs(libpng-dev BTF_PNG_STATIC)
  needs(zlib1g-dev BTF_ZLIB_STATIC)
  needs(libzstd-dev BTF_ZSTD_STATIC)
  mark_as_advanced(BTF_DEFLATE_INCLUDE_DIR BTF_DEFLATE_STATIC BTF_PNG_STATIC
    BTF_ZLIB_STATIC BTF_ZSTD_STATIC)
endif()

list(REMOVE_DUPLICATES missing)
if(missing)
  list(JOIN missing " " packages)
  message(FATAL_ERROR "btftool is built with libraries that were not found. On Debian: apt-get install ${packages}")
endif()

# fmt's functions are compiled once (report/text/fmt_functions.cc): its headers alone would compile them
# anew in every source, and its library would be one more to have where btftool runs.
add_library(btf_fmt INTERFACE)
get_target_property(fmt_headers fmt::fmt-header-only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(btf_fmt SYSTEM INTERFACE ${fmt_headers})

# Headers only, so that objects are the same whatever they are linked into.
add_library(btf_spdlog INTERFACE)
get_target_property(spdlog_headers spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(btf_spdlog SYSTEM INTERFACE ${spdlog_headers})
target_compile_definitions(btf_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
target_link_libraries(btf_spdlog INTERFACE btf_fmt)
