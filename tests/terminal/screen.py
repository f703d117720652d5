"""A command on a pseudo-terminal."""
import fcntl
import os
import pty
import struct
import subprocess
import termios


def on_terminal(words, columns=80, stderr_too=True):
    """Exit code, and what the terminal gets; `stderr_too`: of both streams."""
    main, other = pty.openpty()
    fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "NO_COLOR")}
    process = subprocess.Popen(
        words, stdout=other, stderr=other if stderr_too else subprocess.DEVNULL, env=environment
    )
    os.close(other)
    text = b""
    while True:
        try:
            piece = os.read(main, 1 << 16)
        except OSError:  # how Linux says that the other end is closed
            break
        if not piece:
            break
        text += piece
    os.close(main)
    return process.wait(), text.replace(b"\r\n", b"\n").decode()
