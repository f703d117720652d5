# A static btftool for aarch64, by Debian's cross compiler, with the libraries that `tools/package/foreign.sh BUILD/foreign`
# unpacks.
include(${CMAKE_CURRENT_LIST_DIR}/static.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/aarch64_machine.cmake)
