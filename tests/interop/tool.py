"""Runs btftool and says what it answers."""

import json
import os
import subprocess


class Tool:
    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.runs = 0

    def run(self, *arguments, data=None):
        self.runs += 1
        return subprocess.run([self.path, *map(str, arguments)], input=data, capture_output=True, timeout=120)

    def json_of_files(self, *arguments):
        """The entries of the document, by path."""
        done = self.run(*arguments)
        document = json.loads(done.stdout)
        return {entry["path"]: entry for entry in document["files"]}
