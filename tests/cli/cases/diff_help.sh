# The help of diff: the options that are used first, and all of them.
btftool diff --help
btftool diff --help-all
