"""What the scripts share that run other programs without and with the layer."""

import contextlib
import json
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
LAYER = "VK_LAYER_SAMPLIN_sampling"
# The folder of the manifest, as the tests have it.
FOLDER = pathlib.Path(os.environ.get("SAMPLIN_LAYER_DIR") or ROOT).resolve()
LIBRARY = FOLDER / json.loads((FOLDER / "layer.json").read_text(encoding="utf-8"))["layer"]["library_path"]
DATA_FOLDERS = ["/etc", "/usr/local/share", "/usr/share"]
# What would switch layers on or off behind a script's back.
# The last one is the tests' own: programs of the test harness put that folder in front of the layers' paths.
STEERING = (
    "VK_INSTANCE_LAYERS",
    "VK_LOADER_LAYERS_ENABLE",
    "ENABLE_SAMPLIN",
    "DISABLE_SAMPLIN",
    "SAMPLIN_TRACE",
    "SAMPLIN_LAYER_DIR",
)
# Simulated devices that lack other things each.
DEVICES = ("adreno-650", "mali-t830", "v3d-4.2", "apple-a12")


class Missing(Exception):
    """Something to run with is not there."""


class Unreadable(Exception):
    """A recording or trace that cannot be read or is not one."""


def records(path):
    """Yields the JSON objects of the file at `path`, one a line."""
    try:
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                if line.strip():
                    try:
                        yield json.loads(line)
                    except json.JSONDecodeError as error:
                        raise Unreadable(f"{path}:{number}: not JSON: {error.msg}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"{path}: {error}") from None


def find_manifest(folder, pattern):
    """The first layer or driver manifest that matches `pattern` in the loader's folders, or None."""
    for place in DATA_FOLDERS:
        for path in sorted(pathlib.Path(place, "vulkan", folder).glob(pattern)):
            return path
    return None


def without_layer():
    """The caller's environment, less what could switch the layer on. An installed implicit manifest is off as well."""
    names = {key: value for key, value in os.environ.items() if key not in STEERING}
    return names | {"DISABLE_SAMPLIN": "1"}


def with_layers(*above, trace=None, folders=()):
    """The environment with explicit layers, from the application down; samplin is among them by its name.

    Loaders 1.3.234 to 1.3.246 ignore that order and take layers as they find their manifests, so `folders` has to have the
    manifests of the layers above samplin's; the usual folders come last, with the layers that are installed.
    """
    names = without_layer()
    usual = [pathlib.Path(place, "vulkan/explicit_layer.d") for place in DATA_FOLDERS]
    names["VK_LAYER_PATH"] = ":".join(str(path) for path in [*folders, FOLDER, *usual])
    names["VK_INSTANCE_LAYERS"] = ":".join(above)
    if LAYER in above:
        del names["DISABLE_SAMPLIN"]
        if trace:
            names["SAMPLIN_TRACE"] = str(trace)
    return names


def choose_lavapipe():
    """Makes lavapipe the driver of everything that is started, unless the caller has chosen one."""
    if os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES"):
        return
    manifest = find_manifest("icd.d", "lvp_icd*.json")
    if manifest is None:
        raise Missing("lavapipe is not installed (Debian package mesa-vulkan-drivers)")
    # Old loaders know the second name only.
    os.environ["VK_DRIVER_FILES"] = os.environ["VK_ICD_FILENAMES"] = str(manifest)


def driver_of_loader(names):
    """Name and major version of the first device's driver, as in lavapipe-22, and its description."""
    try:
        shown = subprocess.run(
            ["vulkaninfo", "--summary"], env=names, capture_output=True, text=True, check=False
        ).stdout
    except FileNotFoundError:
        raise Missing("vulkaninfo is missing (Debian package vulkan-tools): install it, or say --driver NAME") from None
    fields = {}
    for line in shown.splitlines():
        key, equals, value = line.partition("=")
        if equals:
            fields.setdefault(key.strip(), value.strip())
    if "driverName" not in fields:
        raise Missing("vulkaninfo --summary names no driver: is one installed?")
    name = fields["driverName"].split()[0].lower()
    # Mesa calls its software rasteriser's Vulkan driver by the rasteriser's name.
    name = {"llvmpipe": "lavapipe"}.get(name, name)
    version = re.search(r"\d+", fields.get("driverInfo", ""))
    described = f"{fields['driverName']} {fields.get('driverInfo', '')} {fields.get('driverVersion', '')}"
    return (f"{name}-{version[0]}" if version else name), described


def need_library():
    """Ends the script when the layer is not built."""
    if not LIBRARY.exists():
        raise Missing(f"{LIBRARY} is missing: run scripts/build first")


def built(name, kind="--bin"):
    """Has cargo build a program, or with `kind` an example, of the workspace. Returns its path.

    Of the whole workspace, as tests are built: with `-p` cargo joins the features of fewer packages, and compiles what differs
    by them a second time. With a small example whatever it is, because without any example or test cargo leaves their features out.
    """
    command = ["cargo", "build", "--locked", "--workspace", kind, name, "--example", "ash"]
    command += ["--message-format", "json-render-diagnostics"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    for line in done.stdout.splitlines():
        message = json.loads(line)
        if done.returncode == 0 and message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    raise Missing(f"{name} could not be built")


@contextlib.contextmanager
def display(picture=None):
    """An X server without a screen, with DISPLAY set. What is to be seen is in the folder `picture`, in the file Xvfb_screen0."""
    # Without -noreset the server restarts whenever its last client leaves, and a client that connects then is refused.
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"]
    command += ["-fbdir", str(picture)] if picture else []
    try:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    except FileNotFoundError:
        raise Missing("Xvfb is not installed (Debian package xvfb)") from None
    before = os.environ.get("DISPLAY")
    try:
        number = server.stdout.readline().decode().strip()
        if not number:
            raise Missing("Xvfb did not start")
        os.environ["DISPLAY"] = f":{number}"
        os.environ.pop("WAYLAND_DISPLAY", None)
        yield
    finally:
        server.terminate()
        server.wait()
        os.environ.pop("DISPLAY", None)
        if before is not None:
            os.environ["DISPLAY"] = before
