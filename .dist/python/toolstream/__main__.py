"""`python -m toolstream`: becomes the program."""

import os
import sys

from toolstream import find

program = find()
os.execv(program, [program, *sys.argv[1:]])
