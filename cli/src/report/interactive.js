"use strict";
(() => {
  // The page decides by itself what the run would be on a device: with the code that `samplin predict` runs.
  const of = (id) => document.getElementById(id);
  const unpacked = async (id) => {
    const packed = Uint8Array.from(atob(of(id).textContent.trim()), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  };
  const select = of("other-name");
  const told = of("other-told");
  // The text of a file, in place of a device of the list.
  let dropped = null;
  let parts;
  // Unpacked once somebody asks.
  const load = () => parts ??= Promise.all(["other-code", "other-trace", "other-devices"].map(unpacked)).then(
    async ([code, trace, devices]) => {
      const texts = JSON.parse(new TextDecoder().decode(devices));
      return { module: await WebAssembly.compile(code), trace, texts };
    });

  const predict = async (module, trace, device, alone) => {
    const { exports: code } = await WebAssembly.instantiate(module, {});
    const put = (bytes) => {
      const at = code.room(bytes.length);
      new Uint8Array(code.memory.buffer, at, bytes.length).set(bytes);
      return at;
    };
    const at = code.predicted(put(trace), trace.length, put(device), device.length, alone ? 1 : 0);
    const length = new DataView(code.memory.buffer).getUint32(at, true);
    return JSON.parse(new TextDecoder().decode(new Uint8Array(code.memory.buffer, at + 4, length)));
  };

  const short = (name) => String(name ?? "").replace(/^VK_(FORMAT|FILTER|SAMPLER_ADDRESS_MODE|SAMPLER_MIPMAP_MODE|BORDER_COLOR)_/, "");
  // Records that say the same are a row.
  const grouped = (records) => {
    const rows = new Map();
    const add = (...cells) => {
      const key = JSON.stringify(cells);
      rows.set(key, { cells, count: (rows.get(key)?.count ?? 0) + 1 });
    };
    for (const record of records) {
      const format = short(record.format ?? record.source?.format);
      for (const change of record.changes ?? []) {
        const lost = change.lost && !change.lost.startsWith("nothing") ? `lost: ${change.lost}` : "";
        add(change.rule, `${change.field}: ${short(change.from)} → ${short(change.to)}`, format, change.because ?? "", lost);
      }
      if (record.event === "unresolved") add(record.rule ?? "", `stays: ${record.what}`, format, record.why ?? "", "");
    }
    return [...rows.values()].sort((a, b) => b.count - a.count);
  };

  const show = (answer) => {
    const body = of("other-table").tBodies[0];
    body.replaceChildren();
    of("other-result").hidden = "error" in answer;
    if ("error" in answer) {
      told.textContent = answer.error;
      return;
    }
    const rows = grouped(answer.records);
    for (const { cells: [rule, change, format, because, lost], count } of rows) {
      const row = body.insertRow();
      for (const text of [String(count), rule, change, format, [because, lost].filter(Boolean).join("; ")]) {
        row.insertCell().textContent = text;
      }
      row.cells[0].className = "number";
      row.cells[4].className = "why";
    }
    const changes = answer.records.reduce((sum, record) => sum + (record.changes?.length ?? 0), 0);
    const beyond = [...Object.keys(answer.unsupported).map((format) => `${short(format)} cannot be sampled there`), ...answer.exceeded];
    told.textContent = [`${answer.device}: ${changes} changes in ${answer.pairs} pairs and ${answer.samplers} samplers`, ...beyond].join("; ");
    told.dataset.changes = changes;
  };

  const ask = async () => {
    told.textContent = "Predicting …";
    delete told.dataset.changes;
    try {
      const { module, trace, texts } = await load();
      const device = new TextEncoder().encode(dropped ?? texts[select.value]);
      show(await predict(module, trace, device, of("other-alone").checked));
    } catch (error) {
      show({ error: `It cannot be predicted: ${error.message}` });
    }
  };

  const again = async () => {
    if (dropped !== null || select.value) await ask();
  };
  const take = async (file) => {
    if (!file) return;
    dropped = await file.text();
    select.value = "";
    await again();
  };
  select.addEventListener("change", () => { dropped = null; again(); });
  of("other-alone").addEventListener("change", again);
  of("other-file").addEventListener("change", (event) => take(event.target.files[0]));
  const place = of("other");
  place.addEventListener("dragover", (event) => event.preventDefault());
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
})();
