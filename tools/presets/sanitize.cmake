# As develop, with AddressSanitizer and UndefinedBehaviorSanitizer.
include(${CMAKE_CURRENT_LIST_DIR}/develop.cmake)
set(BTF_SANITIZE address,undefined CACHE STRING "")
