"""The commands of a Markdown page, with the output that the page shows for them.

A block is an indented or fenced piece of text; one with a line that is a command is a command block. Comments directly
before a block say what to do with it:

    <!-- not run: REASON -->        its commands are not run
    <!-- not compared: REASON -->   its commands are run, but their output is not compared
    <!-- run first: COMMAND -->     a command that the page does not show, for instance to copy an input
    <!-- file: NAME -->             the block, or what it shows after "cat NAME", is this file, which later commands read

Text in front of the first command, with a blank line in between, is a block of its own.
"""

import dataclasses
import re
import subprocess

DIRECTIVE = re.compile(r"^\s*<!-- (not run|not compared|run first|file): (.*?) -->\s*$")
FENCE = re.compile(r"^(\s*)(```+|~~~+)")
# What a reader would type, with or without "$ ": an error message ("espalier: ...") is not.
COMMAND = re.compile(r"^(\$ |(\S*/)?(espalier(-mpi)?|mpirun|mpiexec|cmake|apt-get|scripts/\S+|tests/clusters/\S+|planning_bench)( |$))")


class PageError(Exception):
    """A page that cannot be understood: the message names it, the line, and the reason."""


@dataclasses.dataclass
class Step:
    """A command and the lines that the page shows after it; `first` is the index of its first line in the page."""
    command: str
    first: int
    command_lines: int
    shown: list


@dataclasses.dataclass
class Block:
    page: str
    first: int  # index of the first line in the page
    indent: int
    lines: list  # without the indent
    directives: list  # (kind, text)

    def place(self):
        return f"{self.page}:{self.first + 1}"

    def texts(self, kind):
        return [text for name, text in self.directives if name == kind]

    def has_commands(self):
        return any(COMMAND.match(line) for line in self.lines)


def _ends(lines, start, indent, fence):
    """The index after the last line of the block that begins at `start`."""
    end = start
    if fence:
        while end < len(lines) and not lines[end].strip().startswith(fence):
            end += 1
        return end
    last = start
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) >= indent):
        if lines[end].strip():
            last = end + 1
        end += 1
    return last


def _split(block):
    """The block, as two where text (of a file, for instance) comes before the first command."""
    begin = next((index for index, line in enumerate(block.lines) if line.startswith("$ ")), 0)
    if begin == 0 or block.lines[begin - 1].strip() or any(COMMAND.match(line) for line in block.lines[:begin]):
        return [block]
    text = [line for line in block.lines[:begin - 1]]
    return [dataclasses.replace(block, lines=text, directives=[x for x in block.directives if x[0] == "file"]),
            dataclasses.replace(block, first=block.first + begin, lines=block.lines[begin:],
                                directives=[x for x in block.directives if x[0] != "file"])]


def blocks_of(page, text):
    """All blocks of the page, in order, with the comments directly before them."""
    lines = text.split("\n")
    blocks = []
    directives = []
    index = 0
    after_blank = True
    while index < len(lines):
        line = lines[index]
        directive = DIRECTIVE.match(line)
        fence = FENCE.match(line)
        indented = after_blank and line.startswith("    ") and line.strip()
        if directive:
            directives.append((directive[1], directive[2]))
            after_blank = True
        elif fence or indented:
            indent = len(fence[1]) if fence else len(line) - len(line.lstrip())
            first = index + 1 if fence else index
            end = _ends(lines, first, 4, fence[2] if fence else None)
            inner = lines[first:end]
            if not fence:
                indent = min(len(x) - len(x.lstrip()) for x in inner if x.strip())
            blocks += _split(Block(page, first, indent, [x[indent:] for x in inner], directives))
            directives = []
            index = end if fence else end - 1
            after_blank = True
        elif line.strip():
            if directives:
                raise PageError(f"{page}:{index + 1}: the comment '{directives[-1][0]}: ...' is not directly before a block")
            after_blank = False
        else:
            after_blank = True
        index += 1
    if directives:
        raise PageError(f"{page}: the last comment '{directives[-1][0]}: ...' is not before a block")
    return blocks


def _is_whole(command):
    return subprocess.run(["bash", "-n", "-c", command], capture_output=True, check=False).returncode == 0 and \
        not command.endswith("\\")


def steps_of(block):
    """The commands of a block: "$ " begins one, which may go on for several lines."""
    steps = []
    index = 0
    lines = block.lines
    if not lines[0].startswith("$ "):
        raise PageError(f"{block.place()}: a block with commands begins with '$ ', or says in a comment that it is not run")
    while index < len(lines):
        if lines[index].startswith("$ "):
            first = index
            command = lines[index][2:]
            while not _is_whole(command):
                index += 1
                if index == len(lines):
                    raise PageError(f"{block.page}:{block.first + first + 1}: the command does not end")
                command += "\n" + lines[index]
            steps.append(Step(command, block.first + first, index + 1 - first, []))
        else:
            steps[-1].shown.append(lines[index])
        index += 1
    for step in steps:  # a blank line before the next command is layout
        while step.shown and not step.shown[-1].strip():
            step.shown.pop()
    return steps
