"""What scripts/reconcile follows of draws: the pipelines and descriptor sets that are bound above the layer and below it.

The layer repairs a pair of a separate sampler and a separate image by binding other sets and another pipeline, at the bind or before
the command that uses them. So binds are not compared one by one; what is bound is, where a draw, a dispatch or a trace of rays uses
it. Where the layer's set is bound
in the place of the application's it has to hold the same in every slot but samplers, and each sampler that is another one has to
be in a `pair` record of that pipeline's; so has each sampler of a set that only the layer's own pipeline has.

Which image a shader reads through which sampler is read from its module, as the program gave it (`links`). Each link of the
pipeline that reads a slot with another sampler has to be in a record of its own. Where no link of a pipeline reads it, because
the layer's set stays bound from an earlier one, a record of that one is enough.
"""

import collections
import struct

from layered import Unreadable

BINDS = {"vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdPushDescriptorSet", "vkCmdPushDescriptorSetKHR"}
# What the layer makes of its own: names of calls, and of the argument with what was made.
MADE = {
    "vkCreateSampler": "pSampler",
    "vkCreateDescriptorSetLayout": "pSetLayout",
    "vkCreatePipelineLayout": "pPipelineLayout",
    "vkCreateRenderPass": "pRenderPass",
    "vkCreateRenderPass2": "pRenderPass",
    "vkCreateShaderModule": "pShaderModule",
    "vkCreateGraphicsPipelines": "pPipelines",
    "vkCreateComputePipelines": "pPipelines",
    "vkCreateRayTracingPipelinesKHR": "pPipelines",
    "vkCreateDescriptorPool": "pDescriptorPool",
    "vkAllocateDescriptorSets": "pDescriptorSets",
}
# What it takes away again: names of calls, and of the argument with the object.
TAKEN = {
    "vkDestroySampler": "sampler",
    "vkDestroyDescriptorSetLayout": "descriptorSetLayout",
    "vkDestroyPipelineLayout": "pipelineLayout",
    "vkDestroyRenderPass": "renderPass",
    "vkDestroyShaderModule": "shaderModule",
    "vkDestroyPipeline": "pipeline",
    "vkDestroyDescriptorPool": "descriptorPool",
    "vkFreeDescriptorSets": "descriptorPool",
    "vkResetDescriptorPool": "descriptorPool",
}
SAMPLER, COMBINED = "VK_DESCRIPTOR_TYPE_SAMPLER", "VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER"
# The members of an image descriptor that count, by type; GFXReconstruct keeps the others as they lay in memory.
USED = {SAMPLER: ("sampler",), COMBINED: ("sampler", "imageView", "imageLayout")}

# A sampler that differs: its slot as (set, binding, element), or None for one of a hidden set; the number of the application's
# sampler, None for a hidden one; and what went down.
Other = collections.namedtuple("Other", "slot number given")
# What differs at a bind: the pipeline above, whether another went down, samplers, and what is bound above, by slot.
Bound = collections.namedtuple("Bound", "pipeline split others above")


def links(path):
    """What a shader module samples: ((set, binding, element) of the image, the same of the sampler), each once.

    Of the instructions between a variable and a sample it knows loads and elements that are constants, which is what the programs
    here have in the modules that they record; a module in which an image comes from somewhere else cannot be judged.
    """
    data = path.read_bytes()
    words = struct.unpack(f"<{len(data) // 4}I", data[: len(data) // 4 * 4])
    if not words or words[0] != 0x07230203:
        raise Unreadable(f"{path}: no SPIR-V")
    places, constants, slots, found = collections.defaultdict(dict), {}, {}, []
    at = 5
    while at < len(words):
        count, code = words[at] >> 16, words[at] & 0xFFFF
        operands = words[at + 1 : at + count]
        if code == 71 and operands[1] in (33, 34):  # OpDecorate with Binding or DescriptorSet
            places[operands[0]][operands[1]] = operands[2]
        elif code == 43:  # OpConstant
            constants[operands[1]] = operands[2]
        elif code == 59 and 33 in places[operands[1]]:  # OpVariable
            slots[operands[1]] = (places[operands[1]].get(34, 0), places[operands[1]][33], 0)
        elif code in (65, 66) and operands[2] in slots and operands[3] in constants:  # OpAccessChain, OpInBoundsAccessChain
            slots[operands[1]] = (*slots[operands[2]][:2], constants[operands[3]])
        elif code in (61, 83) and operands[2] in slots:  # OpLoad, OpCopyObject
            slots[operands[1]] = slots[operands[2]]
        elif code == 86:  # OpSampledImage
            if operands[2] not in slots or operands[3] not in slots:
                raise Unreadable(f"{path}: an image or a sampler comes from no variable")
            found.append((slots[operands[2]], slots[operands[3]]))
        at += max(count, 1)
    return list(dict.fromkeys(found))


def handles(value):
    """What a call made, as a list."""
    return value if isinstance(value, list) else [value]


def used(write):
    """A descriptor write less what its type ignores."""
    members = USED.get(write["descriptorType"], ("imageView", "imageLayout"))
    infos = write.get("pImageInfo")
    if not isinstance(infos, list):
        return write
    return write | {"pImageInfo": [{key: info[key] for key in members} for info in infos]}


def point_of(name):
    """The bind point that a command uses; None for one that uses none."""
    uses = {"vkCmdDraw": "GRAPHICS", "vkCmdDispatch": "COMPUTE", "vkCmdTraceRays": "RAY_TRACING_KHR"}
    return next((f"VK_PIPELINE_BIND_POINT_{point}" for start, point in uses.items() if name.startswith(start)), None)


class Side:
    """What is bound on one side of the layer, and what the sets hold."""

    def __init__(self):
        self.contents = collections.defaultdict(dict)
        self.layout_of = {}
        self.dynamic = collections.Counter()
        # Of pipeline layouts and of pipelines.
        self.sets_of = {}
        self.pipelines = {}
        # Modules of each pipeline.
        self.modules = {}
        self.sets = collections.defaultdict(dict)
        self.pushes = 0

    def call(self, name, arguments):
        """Follows a call."""
        if name == "vkCreateDescriptorSetLayout":
            bindings = arguments["pCreateInfo"]["pBindings"] or []
            counts = [binding["descriptorCount"] for binding in bindings if binding["descriptorType"].endswith("_DYNAMIC")]
            self.dynamic[arguments["pSetLayout"]] = sum(counts)
        elif name == "vkCreatePipelineLayout":
            self.sets_of[arguments["pPipelineLayout"]] = arguments["pCreateInfo"]["setLayoutCount"]
        elif MADE.get(name) == "pPipelines":
            for pipeline, info in zip(handles(arguments["pPipelines"]), arguments["pCreateInfos"]):
                self.sets_of[pipeline] = self.sets_of.get(info["layout"], 0)
                stages = info["pStages"] if "pStages" in info else [info["stage"]]
                self.modules[pipeline] = [stage["module"] for stage in stages]
        elif name == "vkAllocateDescriptorSets":
            info = arguments["pAllocateInfo"]
            self.layout_of.update(zip(handles(arguments["pDescriptorSets"]), info["pSetLayouts"]))
        elif name == "vkUpdateDescriptorSets":
            for write in arguments.get("pDescriptorWrites") or []:
                self.write(write["dstSet"], write)
            for copy in arguments.get("pDescriptorCopies") or []:
                self.copy(copy)
        elif name == "vkBeginCommandBuffer":
            for table in (self.pipelines, self.sets):
                for key in [key for key in table if key[0] == arguments["commandBuffer"]]:
                    del table[key]
        elif name in BINDS:
            self.bind(name, arguments)

    def write(self, into, write):
        """Notes what a write puts into a set."""
        # A write past the end of a binding goes on in the next one; none of the programs here makes one.
        written = used(write)
        arrays = [written.get(key) for key in ("pImageInfo", "pBufferInfo", "pTexelBufferView")]
        for number, info in enumerate(next((array for array in arrays if isinstance(array, list)), [])):
            self.contents[into][write["dstBinding"], write["dstArrayElement"] + number] = (write["descriptorType"], info)

    def copy(self, copy):
        """Notes what a copy puts into a set."""
        for number in range(copy["descriptorCount"]):
            held = self.contents[copy["srcSet"]].get((copy["srcBinding"], copy["srcArrayElement"] + number))
            if held:
                self.contents[copy["dstSet"]][copy["dstBinding"], copy["dstArrayElement"] + number] = held

    def bind(self, name, arguments):
        """Notes what a bind or a push leaves bound."""
        place = (arguments["commandBuffer"], arguments["pipelineBindPoint"])
        if name == "vkCmdBindPipeline":
            self.pipelines[place] = arguments["pipeline"]
        elif name == "vkCmdBindDescriptorSets":
            offsets = list(arguments["pDynamicOffsets"] or [])
            for number, bound in enumerate(arguments["pDescriptorSets"]):
                count = self.dynamic[self.layout_of.get(bound)]
                self.sets[place][arguments["firstSet"] + number] = (bound, offsets[:count])
                del offsets[:count]
        else:
            self.pushes += 1
            # What was pushed before stays where nothing else is.
            before, _ = self.sets[place].get(arguments["set"], (None, []))
            pushed = f"push {self.pushes}"
            self.contents[pushed] = dict(self.contents[before]) if str(before).startswith("push") else {}
            self.sets[place][arguments["set"]] = (pushed, [])
            for write in arguments["pDescriptorWrites"]:
                self.write(pushed, write)


class Draws:
    """Both sides, and what differed."""

    def __init__(self, walk, shaders):
        self.walk = walk
        # The folder with the application's modules, by their handles, and what they sample.
        self.shaders = shaders
        self.links = {}
        self.above, self.below = Side(), Side()
        # Objects of the layer's own.
        self.own = set()
        self.bound = []
        self.compared = 0

    def is_own(self, call, expected):
        """Whether a call below is one of the layer's own; `expected` is the name of the application's."""
        name, arguments, _ = call
        if name in MADE and name != expected:
            self.own.update(handles(arguments[MADE[name]]))
        elif name == "vkUpdateDescriptorSets":
            touched = [*(arguments.get("pDescriptorWrites") or []), *(arguments.get("pDescriptorCopies") or [])]
            if not touched or not all(one["dstSet"] in self.own for one in touched):
                return False
        elif name not in BINDS and arguments.get(TAKEN.get(name)) not in self.own:
            return False
        self.below.call(name, arguments)
        return True

    def links_of(self, pipeline):
        """What a pipeline samples."""
        found = []
        for module in self.above.modules.get(pipeline, []):
            if module not in self.links:
                self.links[module] = links(self.shaders / f"sh{module}")
            found += self.links[module]
        return list(dict.fromkeys(found))

    def compare(self, point, commands, commands_below):
        """Compares what is bound at a bind point of a command buffer, where a command uses it."""
        place = (commands, point)
        if place in self.above.pipelines:
            self.compare_point(self.above.pipelines[place], place, (commands_below, point))

    def compare_point(self, pipeline, place, place_below):
        walk, above, below = self.walk, self.above.sets[place], self.below.sets[place_below]
        given = self.below.pipelines.get(place_below)
        split = given in self.own
        if not split and given != walk.ids.get(pipeline):
            walk.error(f"another pipeline is bound below than {pipeline}: {given}")
            return
        count = self.above.sets_of.get(pipeline, 0)
        others, held_above = [], {}
        for index in range(count):
            (asked, offsets), (went, offsets_below) = above.get(index, (None, [])), below.get(index, (None, []))
            held_above |= {(index, *slot): held for slot, held in self.above.contents.get(asked, {}).items()}
            if offsets != offsets_below:
                walk.error(f"set {index} is bound with the offsets {offsets_below}, {offsets} were asked for")
            if str(asked).startswith("push") or went in self.own:
                others += self.differences(index, asked, went)
            elif went != walk.ids.get(asked):
                walk.error(f"set {index} below is {went}, {asked} was asked for")
        hidden = [went for index, (went, _) in below.items() if split and index >= count and went in self.own]
        for went in hidden:
            others += [Other(None, None, walk.states[info["sampler"]]) for _, info in self.below.contents[went].values()]
        if split and not hidden:
            walk.error(f"another pipeline is bound below than {pipeline}, and no set of its own")
        self.compared += 1
        found = Bound(pipeline, split, others, held_above)
        if others and (not self.bound or self.bound[-1] != found):
            self.bound.append(found)

    def differences(self, index, asked, went):
        """The samplers that differ between what the application has bound and the layer's."""
        walk, found = self.walk, []
        held, held_below = self.above.contents[asked], self.below.contents[went]
        if held.keys() - held_below.keys():
            walk.error(f"set {index} below lacks descriptors: {sorted(held.keys() - held_below.keys())}")
        for slot in sorted(held.keys() & held_below.keys()):
            (kind, info), (kind_below, info_below) = held[slot], held_below[slot]
            place = (index, *slot)
            if kind == SAMPLER == kind_below:
                number, _ = walk.asked[info["sampler"]]
                given = walk.states[info_below["sampler"]]
                if info_below["sampler"] != walk.ids[info["sampler"]]:
                    found.append(Other(place, number, given))
            elif kind != kind_below:
                walk.error(f"slot {place} below is of type {kind_below}, not {kind}")
            elif kind != COMBINED:
                walk.leaves(f"slot {place}", info, info_below, is_output=False)
        return found

    def account(self, records, explains, is_of):
        """Holds what differed against the `pair` records of draws, each with the `number` of the application's sampler.

        `explains` is scripts/reconcile's; `is_of` tells whether a record is about the class of a view. Returns the errors, and how
        many records account for something.
        """
        errors, owner, told, hidden = [], {}, set(), set()
        left = [(at, record) for at, record in enumerate(records) if record["changes"]]

        def slot_of(record, what):
            return tuple(record["link"][what][key] for key in ("set", "binding", "element"))

        def fits(record, bound, other):
            """Whether a record is about this sampler: its slots hold that sampler and such a view, and its changes lead there."""
            sampler, image = (bound.above.get(slot_of(record, what), (None, {}))[1] for what in ("sampler", "image"))
            if (record["how"] == "split") != (other.slot is None) or other.slot not in (None, slot_of(record, "sampler")):
                return False
            if self.walk.asked.get(sampler.get("sampler"), (None,))[0] != record["number"] or "imageView" not in image:
                return False
            wanted, made = self.walk.created[record["number"]]
            return is_of(record, image["imageView"]) and explains(record["changes"], wanted, made, other.given)

        for bound in self.bound:
            taken = set()
            # Those of hidden sets first: what is read from there is not read from the slot.
            for other in sorted(bound.others, key=lambda other: other.slot is not None):
                free = [(at, r) for at, r in left if at not in taken and owner.get(at, bound.pipeline) == bound.pipeline]
                # First those that are this pipeline's already.
                fitting = sorted((at not in owner, at) for at, record in free if fits(record, bound, other))
                # Of links with one sampler in one slot each has a record; of hidden samplers each has one.
                fitted = {}
                for _, at in fitting:
                    fitted.setdefault(slot_of(records[at], "image"), at)
                chosen = dict(list(fitted.items())[: None if other.slot else 1])
                owner |= dict.fromkeys(chosen.values(), bound.pipeline)
                taken.update(() if other.slot else chosen.values())
                if not other.slot:
                    hidden.update((bound.pipeline, image) for image in chosen)
                    if not chosen and not self.as_asked(bound, other):
                        errors.append(f"pipeline {bound.pipeline}: another sampler went down in a set of the layer's, and no record says so")
                    continue
                what = (other.slot, other.number, str(other.given))
                told.update((who, image, *what) for image in chosen for who in (bound.pipeline, None))
                # Through a hole nothing is read.
                read = [image for image, sampler in self.links_of(bound.pipeline) if sampler == other.slot]
                read = [image for image in read if bound.above.get(image, (None, {}))[1].get("imageView")]
                read = [image for image in read if (bound.pipeline, image) not in hidden]
                untold = [image for image in read if (bound.pipeline, image, *what) not in told]
                if untold or not read and not any(entry[0] is None and entry[2:] == what for entry in told):
                    images = f" beside {untold}" if untold else ""
                    errors.append(f"pipeline {bound.pipeline}: another sampler went down in slot {other.slot}{images}, and no record says so")
        errors += [f"pair record {record['seq']} of a draw: no bind is as it says" for at, record in left if at not in owner]
        return errors, len(owner)

    def as_asked(self, bound, other):
        """Whether a sampler of a hidden set is as one that the application has bound: that of a link which only moved."""
        samplers = [info["sampler"] for kind, info in bound.above.values() if kind == SAMPLER]
        return not other.slot and any(self.walk.created[self.walk.asked[one][0]][1] == other.given for one in samplers)
