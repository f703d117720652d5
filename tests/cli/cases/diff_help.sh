# Everything that diff takes, grouped.
btftool diff --help
