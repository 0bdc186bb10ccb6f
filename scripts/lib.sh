# What the scripts share. Source it; it only defines functions and variables.
# shellcheck shell=bash
# shellcheck disable=SC2034  # used by the scripts that source this file

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
layer_name=VK_LAYER_SAMPLIN_sampling
library=libVkLayer_samplin.so

say() { printf '%s\n' "$*"; }
note() { printf 'samplin: %s\n' "$*" >&2; }
die() {
    printf 'samplin: %s\n' "$*" >&2
    exit 4
}

# --- what must be installed ---------------------------------------------------------------------------------------

missing_packages=()
missing_things=()

# want PACKAGE THING COMMAND…: notes PACKAGE as missing, for the sake of THING, unless COMMAND succeeds.
want() {
    local package=$1 thing=$2
    shift 2
    if ! "$@" >/dev/null 2>&1; then
        missing_packages+=("$package")
        missing_things+=("$thing")
    fi
}

# How long to wait for another program that holds a lock of the package manager, and between two looks, in seconds.
apt_patience=${SAMPLIN_APT_PATIENCE:-600}
apt_pause=${SAMPLIN_APT_PAUSE:-3}

# apt_get ARGUMENT…: apt-get, tried again while another program holds one of its locks. Its own option for waiting is about the
# lock of dpkg only, and there are others, on the lists and on the archives.
apt_get() {
    local said status told=0 started=$SECONDS
    said=$(mktemp)
    while :; do
        status=0
        # The messages are looked for in English.
        LC_ALL=C apt-get -q "$@" >&2 2>"$said" || status=$?
        if ((status == 0)) || ! grep -q 'Could not get lock' "$said" || ((SECONDS - started >= apt_patience)); then
            break
        fi
        if ((!told)); then
            note "waiting for another program: $(grep -m 1 'Could not get lock' "$said")"
            told=1
        fi
        sleep "$apt_pause"
    done
    cat "$said" >&2
    rm -f "$said"
    return "$status"
}

# Ends the script with the names of what `want` found missing, if anything.
name_missing() {
    ((${#missing_packages[@]} == 0)) && return
    local i
    note "these are missing:"
    for i in "${!missing_packages[@]}"; do
        printf '  %-30s (Debian package %s)\n' "${missing_things[i]}" "${missing_packages[i]}" >&2
    done
    die "on Debian or Ubuntu: sudo apt-get install ${missing_packages[*]}"
}

# Installs what `want` found missing, or says what to install and ends the script.
install_missing() {
    ((${#missing_packages[@]} == 0)) && return
    local list="${missing_packages[*]}"
    if [[ $EUID -eq 0 ]] && command -v apt-get >/dev/null; then
        note "installing $list"
        if ! { apt_get update &&
            DEBIAN_FRONTEND=noninteractive apt_get install -y --no-install-recommends "${missing_packages[@]}"; }; then
            die "apt-get could not install: $list"
        fi
        missing_packages=()
        missing_things=()
        return
    fi
    name_missing
}

# Ends the script unless there is a Rust toolchain that is new enough for this workspace; wants a linker too.
need_rust() {
    local wanted have
    command -v cargo >/dev/null || die "cargo is not in PATH: install Rust with rustup (https://rustup.rs)"
    command -v rustc >/dev/null || die "rustc is not in PATH: install Rust with rustup (https://rustup.rs)"
    want gcc 'C compiler, for linking' command -v cc
    wanted=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
    have=$(rustc --version | cut -d' ' -f2)
    [[ $(printf '%s\n' "$wanted" "${have%%-*}" | sort -V | head -n 1) == "$wanted" ]] ||
        die "Rust $wanted or newer is needed, rustc is $have: rustup update"
}

# Whether the dynamic linker knows a Vulkan loader.
has_loader() {
    local known
    known=$(PATH=$PATH:/usr/sbin:/sbin ldconfig -p)
    [[ $known == *libvulkan.so.1* ]]
}

# Programs that run each of their tests in a copy of one process, in which driver and validation layer are loaded.
forking=(separate e2e borders simulated overrides)

# --- what is built ------------------------------------------------------------------------------------------------

# built NAME [KIND]: builds a program of the workspace, or with --example or --test such a one, and prints its path. In the development
# profile: link-time optimisation would take longer than the program's run. Of the whole workspace, as tests are built: with `-p`
# cargo joins the features of fewer packages, and compiles what differs by them, parquet first of all, a second time. The same without any
# example or test, whose dependencies have features of their own: so a small one is always built along.
built() {
    local messages
    messages=$(cd "$root" && cargo build --locked --workspace "${2:---bin}" "$1" --example ash \
        --message-format json-render-diagnostics)
    sed -n "s|.*\"executable\":\"\\([^\"]*/$1\\(-[0-9a-f]*\\)\\?\\)\".*|\\1|p" <<<"$messages" | tail -n 1
}

# xtask TASK ARGUMENT…: builds the program of tasks and becomes it.
xtask() {
    local program
    program=$(CARGO_TERM_QUIET=true built xtask)
    exec "$program" "$@"
}

# --- drivers and displays -----------------------------------------------------------------------------------------

# Prints the path of the first manifest NAME (a glob) in the folders the loader searches below vulkan/FOLDER.
find_manifest() {
    local folder=$1 name=$2 place file
    for place in "${XDG_DATA_HOME:-${HOME:-/nonexistent}/.local/share}" /etc /usr/local/share /usr/share; do
        for file in "$place/vulkan/$folder/"$name; do
            if [[ -f $file ]]; then
                say "$file"
                return
            fi
        done
    done
    return 1
}

find_lavapipe() { find_manifest icd.d "lvp_icd*.json"; }

# Whether a kernel graphics driver offers a device here.
has_gpu() { compgen -G '/dev/dri/renderD*' >/dev/null || [[ -e /dev/nvidiactl ]]; }

# Whether the caller already chose a driver for the loader.
driver_is_chosen() { [[ -n ${VK_DRIVER_FILES:-}${VK_ICD_FILENAMES:-} ]]; }

# Points every loader at one driver manifest: old ones know the second name only.
use_driver() { export VK_DRIVER_FILES=$1 VK_ICD_FILENAMES=$1; }

xvfb_pid=
xvfb_files=

# Starts an X server on a free display number and sets DISPLAY. Call stop_xvfb when done.
start_xvfb() {
    local number=
    xvfb_files=$(mktemp -d)
    mkfifo "$xvfb_files/display"
    # Without -noreset the server restarts whenever its last client leaves, and a client that connects then is refused.
    Xvfb -displayfd 3 -screen 0 1024x768x24 -nolisten tcp -noreset 3>"$xvfb_files/display" >"$xvfb_files/log" 2>&1 &
    xvfb_pid=$!
    if ! read -r -t 30 number <"$xvfb_files/display"; then
        sed 's/^/Xvfb: /' "$xvfb_files/log" >&2
        die "Xvfb did not start"
    fi
    export DISPLAY=":$number"
}

stop_xvfb() {
    if [[ -n $xvfb_pid ]]; then
        kill "$xvfb_pid" 2>/dev/null || true
        wait "$xvfb_pid" 2>/dev/null || true
        xvfb_pid=
    fi
    if [[ -n $xvfb_files ]]; then
        rm -rf "$xvfb_files"
        xvfb_files=
    fi
}

# --- third-party test programs ------------------------------------------------------------------------------------

# Where unpacked test dependencies are kept between runs.
deps=${SAMPLIN_TEST_DEPS:-$root/target/deps}

# Unpacks SwiftShader, a 1.4 loader and a recent validation layer from Debian's chromium-common package, which carries
# all three, and writes the manifests that it leaves out. Returns 1 when there is no way to get the package.
fetch_chromium_parts() {
    local from=$deps/chromium work deb file
    [[ -f $from/complete ]] && return
    command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || return 1
    note "unpacking SwiftShader, a 1.4 loader and a recent validation layer from chromium-common"
    rm -rf "$from"
    mkdir -p "$from"
    work=$(mktemp -d)
    if [[ $EUID -eq 0 ]]; then
        # apt-get drops to its own user for downloads, which must be able to write here.
        chown _apt "$work" 2>/dev/null || true
    fi
    if ! (cd "$work" && apt_get download chromium-common); then
        if ! { [[ $EUID -eq 0 ]] && apt_get update && (cd "$work" && apt_get download chromium-common); }; then
            rm -rf "$work"
            return 1
        fi
    fi
    deb=("$work"/chromium-common_*.deb)
    dpkg-deb --fsys-tarfile "${deb[0]}" | tar -x -C "$work" --wildcards \
        '*/libvk_swiftshader.so' '*/vk_swiftshader_icd.json' '*/libvulkan.so.1' '*/libVkLayer_khronos_validation.so'
    mkdir "$from/swiftshader" "$from/loader" "$from/validation"
    mv "$work"/usr/lib/chromium/{libvk_swiftshader.so,vk_swiftshader_icd.json} "$from/swiftshader/"
    mv "$work"/usr/lib/chromium/libvulkan.so.1 "$from/loader/"
    # vulkaninfo asks for the name without the number first.
    ln -s libvulkan.so.1 "$from/loader/libvulkan.so"
    mv "$work"/usr/lib/chromium/libVkLayer_khronos_validation.so "$from/validation/"
    write_validation_manifest "$from/validation/VkLayer_khronos_validation.json"
    rm -rf "$work"
    for file in swiftshader/{libvk_swiftshader.so,vk_swiftshader_icd.json} loader/libvulkan.so.1 \
        validation/libVkLayer_khronos_validation.so; do
        [[ -s $from/$file ]] || return 1
    done
    : >"$from/complete"
}

# The package has the library only. The layer's own extensions must be listed, or the loader refuses to enable them.
write_validation_manifest() {
    cat >"$1" <<'MANIFEST'
{
    "file_format_version": "1.2.0",
    "layer": {
        "name": "VK_LAYER_KHRONOS_validation",
        "type": "GLOBAL",
        "library_path": "./libVkLayer_khronos_validation.so",
        "api_version": "1.4.364",
        "implementation_version": "1",
        "description": "Khronos validation layer",
        "instance_extensions": [
            { "name": "VK_EXT_debug_report", "spec_version": "10" },
            { "name": "VK_EXT_debug_utils", "spec_version": "2" },
            { "name": "VK_EXT_layer_settings", "spec_version": "2" },
            { "name": "VK_EXT_validation_features", "spec_version": "6" }
        ]
    }
}
MANIFEST
}
