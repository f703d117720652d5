# A static btftool.
include(${CMAKE_CURRENT_LIST_DIR}/release.cmake)
set(BTF_STATIC ON CACHE BOOL "")
