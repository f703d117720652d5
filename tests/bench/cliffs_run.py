"""Runs commands over files that are made when they are first asked for, and takes their time."""
import glob
import os
import re
import statistics
import subprocess
import sys
import time

from cliffs_inputs import Inputs

FILE = re.compile(r"\{([^}]*)\}")


class Runner:
    def __init__(self, args, scratch):
        self.args = args
        self.scratch = scratch
        self.files = Inputs(args, scratch, self.btftool)
        self._unit_ns = None

    def btftool(self, *arguments):
        done = subprocess.run([self.args.btftool, "-q", *arguments], stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode > 1:
            sys.exit(f"btftool {' '.join(arguments)}: {done.stderr}")

    def words(self, command):
        """The command with the paths of its files, which are there."""
        return [path for word in command.lstrip("!").split() for path in self.paths(word)]

    def paths(self, word):
        name = FILE.fullmatch(word)
        if name is None:
            return [word]
        if name[1].startswith("out"):
            return [os.path.join(self.scratch, name[1])]
        path = self.files.path(name[1].removesuffix("/*"))
        return sorted(glob.glob(path + "/*")) if name[1].endswith("/*") else [path]

    def time(self, tool, command):
        """CPU and elapsed seconds. Exit code 1 is a result, of diff and its like."""
        words = self.words(command)
        if not command.startswith("!"):
            # No -q: diff would stop at the first difference.
            words = [tool, "-j", str(self.args.jobs), *words]
        begin = time.perf_counter()
        child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        said = child.stderr.read()
        _, status, used = os.wait4(child.pid, 0)
        elapsed = time.perf_counter() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode not in (0, 1):
            sys.exit(f"{' '.join(words)}: exit code {child.returncode}: {said.decode()}")
        return used.ru_utime + used.ru_stime, elapsed

    def keep_files_of(self, commands):
        self.files.keep({name.removesuffix("/*") for command in commands for name in FILE.findall(command)})

    def per_element(self, command):
        """How many elements the command works on: those of its first file."""
        names = [name for name in FILE.findall(command) if not name.startswith("out")]
        return self.files.elements(names[0].removesuffix("/*"))

    def start(self):
        """What a process takes that does nearly nothing."""
        turns = [self.time(self.args.btftool, "convert --dtype float16 {one.npy} {out.btf}") for _ in range(9)]
        return tuple(statistics.median(turn[clock] for turn in turns) for clock in (0, 1))

    def unit_ns(self):
        """An element's CPU time in a cast to float16, of a large file."""
        if self._unit_ns is None:
            start = self.start()[0]
            turns = [self.time(self.args.btftool, "convert --dtype float16 {cast_float32.btf} {out.btf}")[0]
                     for _ in range(5)]
            self._unit_ns = max(statistics.median(turns) - start, 1e-6) / self.args.cast_elements * 1e9
        return self._unit_ns
