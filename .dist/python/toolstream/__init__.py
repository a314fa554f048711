"""toolstream reads what a language-model provider sends; this package carries the program."""

import os
import shutil
import sysconfig


def find():
    """Returns the path of the program that was installed with this package."""
    schemes = (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user"))
    for scheme in schemes:
        path = os.path.join(sysconfig.get_path("scripts", scheme), "toolstream")
        if os.path.isfile(path):
            return path
    path = shutil.which("toolstream")
    if path is None:
        raise FileNotFoundError("toolstream: the program is not beside this package")
    return path
