# cmake -C tools/presets/release.cmake -S . -B BUILD: for distribution, without tests and without paths of this machine.
set(CMAKE_BUILD_TYPE Release CACHE STRING "")
set(BUILD_TESTING OFF CACHE BOOL "")
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH source)
cmake_path(GET source PARENT_PATH source)
# Builds of the same commit give the same bytes in any folder.
set(CMAKE_CXX_FLAGS "$ENV{CXXFLAGS} -ffile-prefix-map=${source}=." CACHE STRING "")
# No absolute paths in the program before it is installed either.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON CACHE BOOL "")
