# For work on btftool: what tests/run.sh builds with.
set(BTF_WERROR ON CACHE BOOL "")
set(BTF_ASSERTIONS ON CACHE BOOL "")
set(BUILD_TESTING ON CACHE BOOL "")
