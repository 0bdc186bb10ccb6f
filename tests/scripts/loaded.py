"""Scripts as modules, for the tests of their parts."""

import importlib.machinery
import importlib.util
import pathlib
import sys

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts"


def load(name):
    """A script as a module."""
    sys.path.insert(0, str(SCRIPTS))
    # Scripts have no suffix; nothing is to be written beside them.
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader(name.replace("-", "_"), str(SCRIPTS / name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module
