# One btftool for aarch64 that needs no library, by Debian's cross compiler, with the libraries that
# `tools/package/foreign.sh BUILD/foreign` puts there.
include(${CMAKE_CURRENT_LIST_DIR}/static.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64_machine.cmake)
