# For developing btftool; tests/run.sh builds with it.
set(BTF_WERROR ON CACHE BOOL "")
set(BTF_ASSERTIONS ON CACHE BOOL "")
set(BUILD_TESTING ON CACHE BOOL "")
