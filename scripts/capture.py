"""Recordings by GFXReconstruct of what goes into samplin and of what comes out of it."""

import pathlib
import shutil
import subprocess

import layered
from layered import LAYER, Missing

RECORDER = "VK_LAYER_LUNARG_gfxreconstruct"
MANIFEST = pathlib.Path("/usr/share/vulkan/explicit_layer.d/VkLayer_gfxreconstruct.json")


def record(program, folder, device, layer):
    """Runs `program` twice under the layer that has its manifest in the folder `layer`.

    Returns the recordings above and below, the trace of the run below, and the folder with the modules of the run above.
    """
    found = folder / "layers"
    found.mkdir(parents=True, exist_ok=True)
    shutil.copy(MANIFEST, found)
    # Loaders 1.3.234 to 1.3.246 ignore the order of VK_INSTANCE_LAYERS and take layers as they find them.
    orders = {"above": ([found, layer], [RECORDER, LAYER]), "below": ([layer, found], [LAYER, RECORDER])}
    made = {}
    for place, (folders, layers) in orders.items():
        files = {kind: folder / f"{place}.{kind}" for kind in ("gfxr", "calls", "trace", "log")}
        for file in files.values():
            file.unlink(missing_ok=True)
        names = {key: value for key, value in layered.without_layer().items() if not key.startswith("GFXRECON_")}
        del names["DISABLE_SAMPLIN"]
        names |= {
            "VK_LAYER_PATH": ":".join(map(str, folders)),
            "VK_INSTANCE_LAYERS": ":".join(layers),
            # Else programs of the test harness put the newest library that they find beside themselves in front.
            "SAMPLIN_LAYER_DIR": str(folders[0]),
            "SAMPLIN_TRACE": str(files["trace"]),
            "SAMPLIN_TRACE_LEVEL": "all",
            "GFXRECON_CAPTURE_FILE": str(files["gfxr"]),
            "GFXRECON_CAPTURE_FILE_TIMESTAMP": "false",
        }
        if device:
            names["SAMPLIN_DEVICE"] = device
        with open(files["log"], "wb") as log:
            status = subprocess.run(program, env=names, stdout=log, stderr=log, timeout=300, check=False).returncode
        if status != 0 or not files["gfxr"].exists() or not files["trace"].exists():
            raise Missing(f"{program[0]} ended with {status} or left no recording: see {files['log']}")
        convert = ["gfxrecon-convert", "--output", str(files["calls"]), str(files["gfxr"])]
        with open(files["log"], "ab") as log:
            if subprocess.run(convert, stdout=log, stderr=log, check=False).returncode:
                raise Missing(f"gfxrecon-convert failed: see {files['log']}")
        made[place] = files
    shaders = folder / "shaders"
    shutil.rmtree(shaders, ignore_errors=True)
    extract = ["gfxrecon-extract", "--dir", str(shaders), str(made["above"]["gfxr"])]
    with open(made["above"]["log"], "ab") as log:
        if subprocess.run(extract, stdout=log, stderr=log, check=False).returncode:
            raise Missing(f"gfxrecon-extract failed: see {made['above']['log']}")
    return made["above"]["calls"], made["below"]["calls"], made["below"]["trace"], shaders
