# Debian packages: `cpack -G DEB` in the build folder makes them. Places are Debian's.
include(${CMAKE_CURRENT_LIST_DIR}/release.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/debian_places.cmake)
