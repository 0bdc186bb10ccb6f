// Draws shadows.wgsl with Dawn (npm package webgpu) and writes the picture as a portable pixmap: node dawn.mjs PACKAGE PICTURE
// Without a device that Dawn takes there is no picture.
// Images and samplers are in descriptors of their own, as WebGPU has them; nothing is asked for that a device may lack.
import { readFileSync, writeFileSync } from "node:fs";

const [npm, picture] = process.argv.slice(2);
const { create, globals } = await import(npm);
Object.assign(globalThis, globals);
const SIZE = 256;

const gpu = create(["backend=vulkan"]);
const adapter = await gpu.requestAdapter();
if (!adapter) {
    // Dawn says what the device lacks.
    console.log("no adapter");
    process.exit(0);
}
const device = await adapter.requestDevice();
device.addEventListener("uncapturederror", (event) => {
    console.error(event.error.message);
    process.exit(1);
});
console.log(adapter.info.description || adapter.info.device || adapter.info.vendor);

const code = readFileSync(new URL("shadows.wgsl", import.meta.url), "utf8");
const module = device.createShaderModule({ code });
const usage = GPUTextureUsage.RENDER_ATTACHMENT | GPUTextureUsage.TEXTURE_BINDING;
const maps = device.createTexture({ size: [SIZE, SIZE, 2], format: "depth32float", usage });
const target = device.createTexture({ size: [SIZE, SIZE], format: "rgba8unorm", usage: usage | GPUTextureUsage.COPY_SRC });
const depth = device.createTexture({ size: [SIZE, SIZE], format: "depth32float", usage: GPUTextureUsage.RENDER_ATTACHMENT });

const tiles = device.createTexture({
    size: [4, 4],
    format: "rgba8unorm",
    usage: GPUTextureUsage.TEXTURE_BINDING | GPUTextureUsage.COPY_DST,
});
const texels = new Uint8Array(64);
for (let at = 0; at < 16; at++) {
    const light = (at + (at >> 2)) % 2;
    texels.set([light ? 255 : 90, light ? 240 : 120, 60 + 10 * at, 255], 4 * at);
}
device.queue.writeTexture({ texture: tiles }, texels, { bytesPerRow: 16 }, [4, 4]);

const depthStencil = { format: "depth32float", depthWriteEnabled: true, depthCompare: "less" };
const drawing = device.createRenderPipeline({
    layout: "auto",
    vertex: { module, entryPoint: "place" },
    fragment: { module, entryPoint: "shade", targets: [{ format: "rgba8unorm" }] },
    depthStencil,
});
const linear = { magFilter: "linear", minFilter: "linear" };
const bound = device.createBindGroup({
    layout: drawing.getBindGroupLayout(0),
    entries: [
        { binding: 0, resource: tiles.createView() },
        { binding: 1, resource: device.createSampler({ addressModeU: "repeat", addressModeV: "repeat", ...linear }) },
        { binding: 2, resource: maps.createView({ dimension: "2d-array" }) },
        { binding: 3, resource: device.createSampler({ compare: "less", ...linear }) },
    ],
});

const encoder = device.createCommandEncoder();
const cleared = (view) => ({ view, depthClearValue: 1, depthLoadOp: "clear", depthStoreOp: "store" });
for (const light of [0, 1]) {
    const obstructing = device.createRenderPipeline({
        layout: "auto",
        vertex: { module, entryPoint: "obstruct", constants: { LIGHT: light } },
        depthStencil,
    });
    const view = maps.createView({ dimension: "2d", baseArrayLayer: light, arrayLayerCount: 1 });
    const pass = encoder.beginRenderPass({ colorAttachments: [], depthStencilAttachment: cleared(view) });
    pass.setPipeline(obstructing);
    pass.draw(36, 5);
    pass.end();
}
const pass = encoder.beginRenderPass({
    colorAttachments: [{ view: target.createView(), clearValue: [0, 0, 0, 1], loadOp: "clear", storeOp: "store" }],
    depthStencilAttachment: cleared(depth.createView()),
});
pass.setPipeline(drawing);
pass.setBindGroup(0, bound);
pass.draw(36, 5);
pass.end();
const buffer = device.createBuffer({ size: 4 * SIZE * SIZE, usage: GPUBufferUsage.COPY_DST | GPUBufferUsage.MAP_READ });
encoder.copyTextureToBuffer({ texture: target }, { buffer, bytesPerRow: 4 * SIZE }, [SIZE, SIZE]);
device.queue.submit([encoder.finish()]);
await buffer.mapAsync(GPUMapMode.READ);
const found = new Uint8Array(buffer.getMappedRange());
const rgb = Buffer.alloc(3 * SIZE * SIZE, 0).map((_, at) => found[4 * Math.floor(at / 3) + (at % 3)]);
writeFileSync(picture, Buffer.concat([Buffer.from(`P6 ${SIZE} ${SIZE} 255\n`), rgb]));
device.destroy();
process.exit(0);
