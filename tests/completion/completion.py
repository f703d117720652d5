"""completion.py SHELL BTFTOOL TESTDATA: `btftool completion SHELL`, in that shell.

Lines are typed at a prompt of the shell, and TAB is pressed. Where the shell is not, all is skipped.
"""

import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# What is typed, and what the line is then. A space or a = that a shell adds at its end is not looked at.
# {dump} and {other} are files. | is the cursor, if it is not at the end.
CASES = [
    ("btftool conv", "btftool convert"),
    ("btftool -q insp", "btftool -q inspect"),
    ("btftool help lay", "btftool help layers"),
    ("btftool help --man lay", "btftool help --man layers"),
    ("btftool convert --overf", "btftool convert --overflow"),
    ("btftool diff --heat", "btftool diff --heatmap"),
    ("btftool inspect --progr", "btftool inspect --progress"),
    # Those of other commands are none.
    ("btftool inspect --overf", "btftool inspect --overf"),
    ("btftool merge --dty", "btftool merge --dty"),
    # Words of choices.
    ("btftool --color ne", "btftool --color never"),
    ("btftool convert --dtype bfl", "btftool convert --dtype bfloat16"),
    ("btftool convert --dtype=bfl", "btftool convert --dtype=bfloat16"),
    ("btftool convert --layout kHWC1", "btftool convert --layout kHWC16"),
    ("btftool convert --format polygraphy-", "btftool convert --format polygraphy-inputs"),
    ("btftool convert --overflow sat", "btftool convert --overflow saturate"),
    ("btftool validate --for t", "btftool validate --for tfrt"),
    ("btftool diff --pair-by ex", "btftool diff --pair-by exact"),
    ("btftool diff --nvmedia NCx", "btftool diff --nvmedia NCxHWx"),
    ("btftool layers --compute 'fc*=bfl", "btftool layers --compute 'fc*=bfloat16'"),
    ("btftool types kDLA_L", "btftool types kDLA_LINEAR"),
    ("btftool explain channels-r", "btftool explain channels-reversed"),
    ("btftool completion fi", "btftool completion fish"),
    # Numbers are nothing to guess.
    ("btftool diff --rtol du", "btftool diff --rtol du"),
    # Files.
    ("btftool inspect dum", "btftool inspect {dump}"),
    ("btftool diff --map dum", "btftool diff --map {dump}"),
    ("btftool convert --names dum", "btftool convert --names {dump}"),
    ("btftool convert --names dr", "btftool convert --names drop"),
    # Tensors of the files on the line.
    ("btftool inspect {dump} --tensor inp", "btftool inspect {dump} --tensor input"),
    ("btftool inspect {dump} --tensor=inp", "btftool inspect {dump} --tensor=input"),
    ("btftool inspect {dump} --tensor 0,inp", "btftool inspect {dump} --tensor 0,input"),
    ("btftool convert --dtype fp16 {dump} --exclude inp", "btftool convert --dtype fp16 {dump} --exclude input"),
    ("btftool convert {dump} --rename inp", "btftool convert {dump} --rename input"),
    ("btftool diff {dump} {other} --pair inp", "btftool diff {dump} {other} --pair input:"),
    ("btftool diff {dump} {other} --pair input:wei", "btftool diff {dump} {other} --pair input:weights"),
    # Names that shells would take apart, and files with a space; nothing on the line or in a file is run.
    ("btftool inspect {odd} --tensor od", "btftool inspect {odd} --tensor {name}"),
    ("btftool inspect {odd} --tensor 0,!od", "btftool inspect {odd} --tensor 0,!{name}"),
    ("btftool inspect '{odd}' --tensor 'od", "btftool inspect '{odd}' --tensor 'od d$(touch ran)[0]'"),
    ("btftool inspect a\\ dump.npz --tensor inp", "btftool inspect a\\ dump.npz --tensor input"),
    ("btftool inspect {dump} $(touch ran) --tensor inp", "btftool inspect {dump} $(touch ran) --tensor input"),
    ("here/btftool inspect {dump} --tensor inp", "here/btftool inspect {dump} --tensor input"),
    # No files, or no tensors in them.
    ("btftool inspect --tensor inp", "btftool inspect --tensor inp"),
    ("btftool inspect nothing.btf --tensor inp", "btftool inspect nothing.btf --tensor inp"),
    ("btftool inspect pipe --tensor inp", "btftool inspect pipe --tensor inp"),
]
# Where a shell tells what is behind the cursor, which fish does not.
BEHIND = [("btftool inspect --tensor inp| {dump}", "btftool inspect --tensor input {dump}")]
FILES = {"dump": "dump.npz", "other": "other.npz", "odd": "odd.btf", "name": r"od\ d\$\(touch\ ran\)\[0\]"}
PROMPT = "ready>"
SECONDS = 20
BASH = """PS1='%s'
bind 'set bell-style none' 'set completion-query-items 0'
source ./completion
show() { printf '%%s\\n' "$READLINE_LINE" >>typed; READLINE_LINE=; }
bind -x '"\\C-o": show'
"""
ZSH = """PS1='%s'
setopt no_beep no_auto_list
fpath=($PWD/functions $fpath)
autoload -Uz compinit
compinit -u -D
show() { print -r -- $BUFFER >>typed; BUFFER= }
zle -N show
bindkey '^O' show
"""
FISH = """function fish_prompt
    echo -n '%s'
end
set -g fish_greeting
set -g fish_autosuggestion_enabled 0
source ./completion
function show
    commandline >>typed
    commandline ''
end
bind \\co show
"""


class Terminal:
    """A shell in a terminal of its own."""

    def __init__(self, command, environment):
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, environment)
        self.seen = ""
        self.wait(lambda: PROMPT in self.seen, "a prompt")

    def wait(self, done, what):
        end = time.monotonic() + SECONDS
        while not done():
            if time.monotonic() > end:
                sys.exit(f"no {what} after {SECONDS} seconds: {self.seen!r}")
            if select.select([self.terminal], [], [], 0.02)[0]:
                self.seen += os.read(self.terminal, 65536).decode(errors="replace")

    def complete(self, line):
        before, _, behind = line.partition("|")
        typed = Path("typed")
        typed.unlink(missing_ok=True)
        os.write(self.terminal, (before + behind + "\x02" * len(behind) + "\t\x0f").encode())
        self.wait(lambda: typed.exists() and typed.read_text().endswith("\n"), f"answer to '{line}'")
        return typed.read_text().removesuffix("\n")

    def close(self):
        os.close(self.terminal)
        os.waitpid(self.pid, 0)


def shell_of(name, environment):
    if name == "fish":
        Path("rc").write_text(FISH % PROMPT)
        return Terminal(["fish", "--no-config", "--init-command", "source rc"], environment)
    if name == "bash":
        Path("rc").write_text(BASH % PROMPT)
        return Terminal(["bash", "--noprofile", "--rcfile", "rc", "-i"], environment)
    Path("functions").mkdir()
    shutil.copy("completion", "functions/_btftool")
    Path(".zshrc").write_text(ZSH % PROMPT)
    return Terminal(["zsh", "-d", "-i"], environment | {"ZDOTDIR": os.getcwd()})


def npz(path, tool, testdata, names):
    for name in names:
        subprocess.run([tool, "convert", "-q", "--tensor", "2", f"{testdata}/good/mixed.btf", f"{name}.npy"], check=True)
    subprocess.run([tool, "convert", "-q", *(f"{name}.npy" for name in names), path], check=True)
    for name in names:
        os.unlink(f"{name}.npy")


def main(name, tool, testdata):
    if shutil.which(name) is None:
        print(f"skipped: no {name}")
        return 0
    tool, testdata = os.path.realpath(tool), os.path.realpath(testdata)
    wrong = 0
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        npz(FILES["dump"], tool, testdata, ["input", "output"])
        npz(FILES["other"], tool, testdata, ["weights", "bias"])
        subprocess.run([tool, "convert", "--tensor", "0", "--rename", "mixed#0=od d$(touch ran)[0]",
                        f"{testdata}/good/mixed.btf", FILES["odd"]], check=True)
        os.symlink(FILES["dump"], "a dump.npz")
        os.mkfifo("pipe")
        os.mkdir("here")
        os.symlink(tool, "here/btftool")
        with open("completion", "wb") as script:
            subprocess.run([tool, "completion", name], stdout=script, check=True)
        environment = {"PATH": os.path.dirname(tool) + ":" + os.environ["PATH"], "HOME": scratch, "TERM": "vt100",
                       "LC_ALL": "C.UTF-8"}
        shell = shell_of(name, environment)
        cases = CASES + (BEHIND if name != "fish" else [])
        for typed, expected in cases:
            typed = typed.format(**FILES)
            expected = expected.format(**FILES)
            line = shell.complete(typed)
            if line.rstrip(" =").replace("  ", " ") != expected:
                print(f"{typed!r} became {line!r}, not {expected!r}")
                wrong += 1
        shell.close()
        if os.path.exists("ran"):
            print("something was run")
            wrong += 1
        os.chdir("/")
    print(f"{name}: {len(cases) - wrong} of {len(cases)} lines as expected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
