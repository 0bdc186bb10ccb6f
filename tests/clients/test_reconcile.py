"""Tests of scripts/reconcile with small recordings: everything that is not accounted for must be noticed."""

import copy
import json
import pathlib
import struct
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts/reconcile"
IDENTITY = {place: "VK_COMPONENT_SWIZZLE_IDENTITY" for place in "rgba"}


def sampler_info(**members):
    """A create info as gfxrecon-convert writes it."""
    info = {
        "sType": "VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO",
        "pNext": None,
        "flags": 0,
        "magFilter": "VK_FILTER_LINEAR",
        "minFilter": "VK_FILTER_LINEAR",
        "mipmapMode": "VK_SAMPLER_MIPMAP_MODE_NEAREST",
        "mipLodBias": 0.0,
        "anisotropyEnable": 0,
        "maxAnisotropy": 1.0,
        "compareEnable": 0,
        "compareOp": "VK_COMPARE_OP_NEVER",
        "minLod": 0.0,
        "maxLod": 1000.0,
        "borderColor": "VK_BORDER_COLOR_FLOAT_TRANSPARENT_BLACK",
        "unnormalizedCoordinates": 0,
    }
    info |= {f"addressMode{axis}": "VK_SAMPLER_ADDRESS_MODE_REPEAT" for axis in "UVW"}
    return info | members


def call(name, **arguments):
    """A recorded call."""
    return {"vkFunc": {"name": name, "return": "VK_SUCCESS", "args": arguments}}


def create_sampler(handle, **members):
    return call("vkCreateSampler", device=1, pCreateInfo=sampler_info(**members), pAllocator=None, pSampler=handle)


def write(sampler, view):
    image = {"sampler": sampler, "imageView": view, "imageLayout": "VK_IMAGE_LAYOUT_GENERAL"}
    slot = {"dstSet": 9, "dstBinding": 0, "dstArrayElement": 0}
    written = slot | {"descriptorType": "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER", "pImageInfo": [image]}
    return call("vkUpdateDescriptorSets", device=1, pDescriptorWrites=[written])


def blit(chosen):
    return call("vkCmdBlitImage", commandBuffer=8, srcImage=2, dstImage=2, filter=chosen)


IMAGE = {"imageType": "VK_IMAGE_TYPE_2D", "format": "VK_FORMAT_D32_SFLOAT", "tiling": "VK_IMAGE_TILING_OPTIMAL"}
VIEW = {"image": 2, "viewType": "VK_IMAGE_VIEW_TYPE_2D", "format": "VK_FORMAT_D32_SFLOAT", "components": IDENTITY}
VIEW |= {"subresourceRange": {"aspectMask": 2}}
START = [
    call("vkCreateImage", device=1, pCreateInfo=IMAGE, pAllocator=None, pImage=2),
    call("vkCreateImageView", device=1, pCreateInfo=VIEW, pAllocator=None, pView=3),
]
NEAREST = {"magFilter": "VK_FILTER_NEAREST", "minFilter": "VK_FILTER_NEAREST"}


def change(field, before, after):
    return {"rule": "a-rule", "field": field, "from": before, "to": after}


class Recordings(unittest.TestCase):
    """Calls above and below the layer, and a trace."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="samplin-reconcile-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def compare(self):
        """Runs the script. Returns exit status and output."""
        paths = []
        for name in ("above", "below", "trace"):
            lines = [record | ({"seq": at} if name == "trace" else {}) for at, record in enumerate(getattr(self, name))]
            paths.append(self.folder / name)
            paths[-1].write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        paths.append(self.folder)
        done = subprocess.run([SCRIPT, "--compare", *paths], capture_output=True, text=True, timeout=60, check=False)
        return done.returncode, done.stdout + done.stderr

    def assert_ends(self, expected, *texts):
        status, output = self.compare()
        self.assertEqual(status, expected, output)
        for text in texts:
            self.assertIn(text, output)


class Reconcile(Recordings):
    """One sampler with an illegal bias meets one depth view; one blit."""

    def setUp(self):
        super().setUp()
        self.above = START + [create_sampler(4, mipLodBias=99.0), write(4, 3), write(4, 3), blit("VK_FILTER_LINEAR")]
        self.above += [call("vkDestroySampler", device=1, sampler=4)]
        self.below = START + [create_sampler(4, mipLodBias=16.0), create_sampler(5, mipLodBias=16.0, **NEAREST)]
        self.below += [write(5, 3), write(5, 3), blit("VK_FILTER_NEAREST")]
        self.below += [call("vkDestroySampler", device=1, sampler=4), call("vkDestroySampler", device=1, sampler=5)]
        filters = [change(field, "VK_FILTER_LINEAR", "VK_FILTER_NEAREST") for field in ("magFilter", "minFilter")]
        view_class = {"image_type": "VK_IMAGE_TYPE_2D", "tiling": "optimal"}
        pair = {"sampler": "0x4", "format": "VK_FORMAT_D32_SFLOAT", "aspect": "depth", "view_type": "VK_IMAGE_VIEW_TYPE_2D"}
        pair |= {"event": "pair", "swizzle": "rgba", "view_class": view_class, "changes": filters}
        blit_filter = change("filter", "VK_FILTER_LINEAR", "VK_FILTER_NEAREST")
        self.trace = [
            {"event": "layer"},
            {"event": "sampler", "sampler": "0x4", "changes": [change("mipLodBias", 99.0, 16.0)]},
            pair,
            {"event": "blit", "src_format": "VK_FORMAT_D32_SFLOAT", "changes": [blit_filter]},
        ]

    def test_accounted_for(self):
        self.assert_ends(0, "7 calls compared; 0 devices, 1 samplers, 2 descriptors, 1 blits and 0 states", "3 records", "1 samplers of", "0 errors")

    def test_each_record_is_needed(self):
        for at in (1, 2, 3):
            kept = self.trace
            self.trace = kept[:at] + kept[at + 1 :]
            self.assert_ends(1)
            self.trace = kept[:at] + [kept[at]] + kept[at:]
            self.assert_ends(1)
            self.trace = kept

    def test_record_of_something_else(self):
        self.trace[2]["changes"].append(change("compareEnable", True, False))
        self.assert_ends(1, "0 records say so", "which was not seen")

    def test_step_that_leads_nowhere(self):
        self.trace[2]["changes"][0]["to"] = "VK_FILTER_CUBIC_EXT"
        self.assert_ends(1, "0 records say so")

    def test_several_steps(self):
        steps = [change("magFilter", "VK_FILTER_LINEAR", "VK_FILTER_CUBIC_EXT")]
        steps += [change("magFilter", "VK_FILTER_CUBIC_EXT", "VK_FILTER_NEAREST")]
        self.trace[2]["changes"] = steps + self.trace[2]["changes"][1:]
        self.assert_ends(0)
        steps[1]["from"] = "VK_FILTER_LINEAR"
        self.assert_ends(1)

    def test_difference_that_no_rule_is_about(self):
        self.below = copy.deepcopy(self.below)
        self.below[4]["vkFunc"]["args"]["pDescriptorWrites"][0]["dstSet"] = 7
        self.assert_ends(1, "vkUpdateDescriptorSets.pDescriptorWrites[0].dstSet: 7 went down, 9 was asked for")

    def test_call_that_did_not_go_down(self):
        del self.below[6]
        self.assert_ends(1, "vkCmdBlitImage went down as vkDestroySampler")

    def test_call_that_was_not_asked_for(self):
        self.below.append(call("vkDeviceWaitIdle", device=1))
        self.assert_ends(1, "vkDeviceWaitIdle was not asked for")

    def test_handles_are_matched(self):
        # A handle of the layer's own in front of the application's shifts all numbers that follow.
        above = START + [create_sampler(4), write(4, 3), create_sampler(5), write(5, 3)]
        self.below = START + [create_sampler(4), create_sampler(5, **NEAREST), write(5, 3), create_sampler(6), write(5, 3)]
        self.above = above
        self.trace = self.trace[:3] + [{"event": "sampler", "sampler": "0x6", "changes": []}]
        self.trace[1] = {"event": "sampler", "sampler": "0x4", "changes": []}
        self.assert_ends(0)
        # The second sampler is the first one's twin and went down as such; the third is not.
        self.below[-1] = write(4, 3)
        self.assert_ends(1, "another sampler of the application's went down")

    def test_extensions_that_are_added(self):
        info = {"sType": "VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO", "pNext": None, "enabledExtensionCount": 0}
        info |= {"ppEnabledExtensionNames": None}
        more = {"sType": "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_CUSTOM_BORDER_COLOR_FEATURES_EXT", "pNext": None}
        names = ["VK_EXT_custom_border_color"]
        given = info | {"pNext": more, "enabledExtensionCount": 1, "ppEnabledExtensionNames": names}
        for calls, chosen in ((self.above, info), (self.below, given)):
            calls.insert(0, call("vkCreateDevice", physicalDevice=7, pCreateInfo=chosen, pAllocator=None, pDevice=1))
        self.trace[0] = {"event": "device", "augmented": names}
        self.assert_ends(0, "1 devices")
        self.trace[0] = {"event": "device", "augmented": []}
        self.assert_ends(1, "extensions were added")
        self.trace[0] = {"event": "device", "augmented": names}
        more["sType"] = "VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT"
        self.assert_ends(1, "vkCreateDevice.pCreateInfo.pNext")

    def test_not_a_recording(self):
        self.above = [{"header": {}}]
        self.assert_ends(3, "no call is recorded")


POINT = "VK_PIPELINE_BIND_POINT_COMPUTE"
FILTERS = [change(field, "VK_FILTER_LINEAR", "VK_FILTER_NEAREST") for field in ("magFilter", "minFilter")]


def put(held, binding, **info):
    """A write of a separate image or sampler; what its type ignores lies there as it may."""
    kind = "SAMPLER" if "sampler" in info else "SAMPLED_IMAGE"
    info = {"sampler": 1234, "imageView": 5678, "imageLayout": "VK_IMAGE_LAYOUT_GENERAL"} | info
    slot = {"dstSet": held, "dstBinding": binding, "dstArrayElement": 0, "descriptorType": f"VK_DESCRIPTOR_TYPE_{kind}"}
    return call("vkUpdateDescriptorSets", device=1, pDescriptorWrites=[slot | {"pImageInfo": [info]}])


def bind_set(held, number=0):
    sets = {"firstSet": number, "pDescriptorSets": [held], "pDynamicOffsets": None}
    return call("vkCmdBindDescriptorSets", commandBuffer=30, pipelineBindPoint=POINT, layout=20, **sets)


def bind_pipeline(handle):
    return call("vkCmdBindPipeline", commandBuffer=30, pipelineBindPoint=POINT, pipeline=handle)


def pipeline(layout, handle):
    info = {"layout": layout, "stage": {"module": MODULE}}
    return call("vkCreateComputePipelines", device=1, pCreateInfos=[info], pPipelines=[handle])


MODULE = 19


def module(*samplers):
    """The words of a shader that reads the image of set 0, binding 0 through each sampler of these bindings, as far as links go."""
    def instruction(code, *operands):
        return [(len(operands) + 1) << 16 | code, *operands]

    words = [0x07230203, 0x10000, 0, 100, 0]
    for at, binding in enumerate((0, *samplers)):
        variable = 10 + at
        words += instruction(71, variable, 34, 0) + instruction(71, variable, 33, binding)
        words += instruction(59, 1, variable, 0) + instruction(61, 2, 30 + at, variable)
        if at:
            words += instruction(86, 3, 50 + at, 30, 30 + at)
    return struct.pack(f"<{len(words)}I", *words)


def pipeline_layout(count, handle):
    return call("vkCreatePipelineLayout", device=1, pCreateInfo={"setLayoutCount": count}, pPipelineLayout=handle)


def allocate(handle):
    return call("vkAllocateDescriptorSets", device=1, pAllocateInfo={"pSetLayouts": [11]}, pDescriptorSets=[handle])


class Draws(Recordings):
    """A LINEAR sampler and a depth view in slots of their own, which a pipeline joins."""

    def setUp(self):
        super().setUp()
        (self.folder / f"sh{MODULE}").write_bytes(module(1))
        self.start = START + [create_sampler(4), pipeline_layout(1, 20), pipeline(20, 21), allocate(12)]
        self.start += [put(12, 0, imageView=3), put(12, 1, sampler=4), call("vkBeginCommandBuffer", commandBuffer=30)]
        self.end = [call("vkCmdDispatch", commandBuffer=30), call("vkEndCommandBuffer", commandBuffer=30)]
        self.above = self.start + [bind_pipeline(21), bind_set(12)] + self.end
        slots = {"image": {"set": 0, "binding": 0, "element": 0}, "sampler": {"set": 0, "binding": 1, "element": 0}}
        self.pair = {"event": "pair", "sampler": "0x4", "swizzle": "rgba", "path": "draw", "link": slots, "changes": FILTERS}
        self.pair |= {"format": "VK_FORMAT_D32_SFLOAT", "aspect": "depth", "view_type": "VK_IMAGE_VIEW_TYPE_2D", "how": "shadow"}
        self.pair["view_class"] = {"image_type": "VK_IMAGE_TYPE_2D", "tiling": "optimal"}
        self.trace = [{"event": "sampler", "sampler": "0x4", "changes": []}, self.pair]
        # A copy of the set, with another sampler.
        self.shadow = [create_sampler(40, **NEAREST), allocate(41), put(41, 0, imageView=3), put(41, 1, sampler=40)]
        self.shadow += [bind_set(41)]
        self.below = self.start + [bind_pipeline(21)] + self.shadow + self.end

    def split(self, sampler):
        """Below, another pipeline with a set more, which holds this sampler."""
        own = [create_sampler(40, **NEAREST), pipeline_layout(2, 42), pipeline(42, 43), allocate(44), put(44, 3, sampler=sampler)]
        self.below = self.start + [bind_pipeline(21), bind_set(12)] + own + [bind_pipeline(43), bind_set(44, 1)] + self.end
        self.pair["how"] = "split"

    def test_shadow(self):
        self.assert_ends(0, "11 calls compared", "1 states of what is bound differ, 1 records", "0 errors")

    def test_shadow_without_a_record(self):
        self.trace.pop()
        self.assert_ends(1, "pipeline 21: another sampler went down in slot (0, 1, 0) beside [(0, 0, 0)], and no record says so")

    def test_record_without_a_difference(self):
        self.below = self.above
        self.assert_ends(1, "pair record 1 of a draw: no bind is as it says")

    def test_record_of_something_else(self):
        for key, other in {"how": "split", "format": "VK_FORMAT_D16_UNORM", "changes": FILTERS[:1]}.items():
            self.trace[1] = self.pair | {key: other}
            self.assert_ends(1, "and no record says so", "no bind is as it says")
        elsewhere = self.pair["link"] | {"sampler": {"set": 0, "binding": 2, "element": 0}}
        self.trace[1] = self.pair | {"link": elsewhere}
        self.assert_ends(1, "and no record says so", "no bind is as it says")

    def test_each_link_has_its_record(self):
        """Two images are read through the sampler; what differs is the same for both."""
        words = module(1)
        more = struct.pack("<19I", 4 << 16 | 71, 20, 34, 0, 4 << 16 | 71, 20, 33, 2, 4 << 16 | 59, 1, 20, 0, 4 << 16 | 61, 2, 40, 20, 5 << 16 | 86, 3, 60)
        (self.folder / f"sh{MODULE}").write_bytes(words + more + struct.pack("<2I", 40, 31))
        put_below = self.shadow[:3] + [put(41, 2, imageView=3)] + self.shadow[3:]
        self.above = self.start + [put(12, 2, imageView=3), bind_pipeline(21), bind_set(12)] + self.end
        self.below = self.start + [put(12, 2, imageView=3), bind_pipeline(21)] + put_below + self.end
        self.assert_ends(1, "no record says so")
        second = self.pair["link"] | {"image": {"set": 0, "binding": 2, "element": 0}}
        self.trace.append(self.pair | {"link": second})
        self.assert_ends(0, "2 records", "0 errors")

    def test_no_module(self):
        (self.folder / f"sh{MODULE}").write_bytes(b"nothing of the kind")
        self.assert_ends(3, "no SPIR-V")

    def test_record_twice(self):
        self.trace.append(self.pair)
        self.assert_ends(1, "pair record 2 of a draw: no bind is as it says")

    def test_shadow_with_another_image(self):
        self.shadow[2] = put(41, 0, imageView=2)
        self.below = self.start + [bind_pipeline(21)] + self.shadow + self.end
        self.assert_ends(1, "slot (0, 0, 0).imageView: 2 went down, 3 was asked for")

    def test_bind_that_did_not_go_down(self):
        self.below = self.start + [bind_pipeline(21)] + self.end
        self.trace.pop()
        self.assert_ends(1, "set 0 below is None, 12 was asked for")

    def test_another_pipeline(self):
        self.below = self.start + [pipeline(20, 43), bind_pipeline(43), bind_set(12)] + self.end
        self.trace.pop()
        self.assert_ends(1, "another pipeline is bound below than 21, and no set of its own")

    def test_split(self):
        self.split(40)
        self.assert_ends(0, "1 states of what is bound differ, 1 records", "0 errors")
        self.trace.pop()
        self.assert_ends(1, "another sampler went down in a set of the layer's, and no record says so")

    def test_split_that_only_moves_a_sampler(self):
        self.split(4)
        self.trace.pop()
        self.assert_ends(0, "0 errors")

    def test_push(self):
        def push(sampler):
            writes = [one["vkFunc"]["args"]["pDescriptorWrites"][0] for one in (put(0, 0, imageView=3), put(0, 1, sampler=sampler))]
            return call("vkCmdPushDescriptorSetKHR", commandBuffer=30, pipelineBindPoint=POINT, set=0, pDescriptorWrites=writes)

        self.above = self.start + [bind_pipeline(21), push(4)] + self.end
        self.below = self.start + [bind_pipeline(21), push(4), create_sampler(40, **NEAREST), push(40)] + self.end
        self.pair["how"] = "push"
        self.assert_ends(0, "1 states of what is bound differ, 1 records", "0 errors")
        self.trace.pop()
        self.assert_ends(1, "another sampler went down in slot (0, 1, 0) beside [(0, 0, 0)], and no record says so")


if __name__ == "__main__":
    unittest.main()
