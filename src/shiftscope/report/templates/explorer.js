"use strict";
(() => {
  const STEPS = 65000, OUTSIDE = 65535, REACH = 14, PAD = { left: 58, right: 10, top: 26, bottom: 44 };
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

  function positions(text) {
    const out = [];
    let last = 0, value = 0, unit = 1;
    for (const byte of bytes(text)) {
      value += (byte & 127) * unit;
      if (byte & 128) { unit *= 128; continue; }
      last += value; out.push(last); value = 0; unit = 1;
    }
    return out;
  }

  function unpack(packed) {
    const raw = bytes(packed.values);
    return { rows: positions(packed.rows), values: new Uint16Array(raw.buffer, 0, raw.length >> 1) };
  }

  const samples = { reference: unpack(data.reference), current: unpack(data.current) };
  const modes = data.modes.map(mode => ({ ...mode, marked: mode.marked && unpack(mode.marked) }));
  const width = data.columns.length;
  const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const short = value => String(Number(value.toPrecision(4)));
  const inUnits = (column, step) => column.low + (step / STEPS) * (column.high - column.low);

  function ticks(low, high) {
    const rough = (high - low) / 4, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 2.5, 5, 10].map(f => f * power).find(s => s >= rough);
    const out = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) out.push(k * step);
    return out;
  }

  function quantile(sorted, q) { return sorted[Math.round(q * (sorted.length - 1))]; }

  class Explorer {
    constructor(root) {
      this.root = root;
      [this.across, this.up, this.mode] = ["across", "up", "mode"].map(name => root.querySelector(`[name=${name}]`));
      this.readout = root.querySelector("output");
      this.hint = this.readout.textContent;
      this.panels = [...root.querySelectorAll("canvas")].map(canvas => ({ canvas, side: canvas.dataset.side, at: null }));
      this.mode.value = root.dataset.mode;
      this.aim();
      this.across.addEventListener("change", () => this.draw());
      this.up.addEventListener("change", () => this.draw());
      this.mode.addEventListener("change", () => { this.aim(); this.draw(); });
      for (const panel of this.panels) {
        panel.canvas.addEventListener("pointermove", event => this.hover(panel, event));
        panel.canvas.addEventListener("pointerleave", () => this.select(panel, null));
        panel.canvas.addEventListener("blur", () => this.select(panel, null));
        panel.canvas.addEventListener("keydown", event => this.walk(panel, event));
      }
      root.hidden = false;
      root.parentElement.classList.add("live");
      this.draw();
      this.width = root.clientWidth;
      new ResizeObserver(() => {
        if (root.clientWidth === this.width) return;  // drawing changes the height, which is no reason to draw
        this.width = root.clientWidth;
        requestAnimationFrame(() => this.draw());
      }).observe(root);
    }

    get marks() { return modes[Number(this.mode.value)]; }

    aim() {
      const [first, second] = this.marks.axes;
      this.across.value = first;
      this.up.value = second ?? (first === 0 ? 1 : 0);
    }

    points(panel) {
      const marks = this.marks, x = Number(this.across.value), y = Number(this.up.value);
      const list = (set, marked) => set.rows.map((row, k) =>
        ({ row, marked, x: set.values[k * width + x], y: set.values[k * width + y] }));
      const own = marks.marked && panel.side === marks.side ? list(marks.marked, true) : [];
      const seen = new Set(own.map(p => p.row));
      return list(samples[panel.side], false).filter(p => !seen.has(p.row)).concat(own)
        .filter(p => p.x !== OUTSIDE && p.y !== OUTSIDE);
    }

    draw() {
      for (const panel of this.panels) {
        panel.at = null;
        panel.points = this.points(panel);
        this.paint(panel);
      }
    }

    paint(panel) {
      const { canvas } = panel, wide = canvas.clientWidth;
      if (!wide) return;
      const high = Math.round(0.82 * wide), ratio = window.devicePixelRatio || 1;
      canvas.width = wide * ratio;
      canvas.height = high * ratio;
      const pen = canvas.getContext("2d"), x = data.columns[this.across.value], y = data.columns[this.up.value];
      const area = { width: wide - PAD.left - PAD.right, height: high - PAD.top - PAD.bottom };
      panel.px = step => PAD.left + (step / STEPS) * area.width;
      panel.py = step => high - PAD.bottom - (step / STEPS) * area.height;
      pen.scale(ratio, ratio);
      this.frame(pen, panel, x, y, area, high);
      pen.fillStyle = colour(panel.side);
      pen.strokeStyle = colour("ink");
      for (const p of panel.points) {
        pen.globalAlpha = p.marked ? 0.9 : 0.45;
        pen.beginPath();
        pen.arc(panel.px(p.x), panel.py(p.y), p.marked ? 2.6 : 1.9, 0, 7);
        pen.fill();
        if (p.marked) { pen.lineWidth = 0.8; pen.stroke(); }
      }
      pen.globalAlpha = 1;
      this.box(pen, panel);
      const what = panel.side === this.marks.side ? `, rows of mode ${Number(this.mode.value) + 1} ringed` : "";
      canvas.setAttribute("aria-label",
        `Rows of the ${panel.side} sample: ${y.name} against ${x.name}${what}. Arrow keys walk through the rows.`);
      if (panel.at !== null) this.ring(pen, panel);
    }

    frame(pen, panel, x, y, area, high) {
      pen.font = `600 13px ${getComputedStyle(document.body).fontFamily}`;
      pen.fillStyle = colour(panel.side);
      pen.fillText(`${panel.side} sample`, PAD.left, 16);
      pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      pen.fillStyle = pen.strokeStyle = colour("soft");
      pen.lineWidth = 1;
      pen.strokeRect(PAD.left + 0.5, PAD.top + 0.5, area.width, area.height);
      pen.textAlign = "center";
      for (const tick of ticks(x.low, x.high)) {
        const at = PAD.left + (tick - x.low) / (x.high - x.low) * area.width;
        pen.fillText(short(tick), at, high - PAD.bottom + 16);
      }
      pen.fillText(x.name, PAD.left + area.width / 2, high - 8, area.width);
      pen.textAlign = "right";
      for (const tick of ticks(y.low, y.high)) {
        const at = high - PAD.bottom - (tick - y.low) / (y.high - y.low) * area.height;
        pen.fillText(short(tick), PAD.left - 6, at + 4);
      }
      pen.save();
      pen.translate(12, PAD.top + area.height / 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "center";
      pen.fillText(y.name, 0, 0, area.height);
      pen.restore();
    }

    box(pen, panel) {
      const marks = this.marks;
      if (!marks.marked) return;
      const span = axis => {
        const sorted = marks.marked.rows.map((_, k) => marks.marked.values[k * width + axis])
          .filter(step => step !== OUTSIDE).sort((a, b) => a - b);
        if (!sorted.length) return null;
        const low = quantile(sorted, 0.05), high = quantile(sorted, 0.95), margin = 0.3 * (high - low);
        return [low - margin, high + margin];
      };
      const across = span(Number(this.across.value)), up = span(Number(this.up.value));
      if (!across || !up) return;
      const [left, right] = across.map(panel.px), [bottom, top] = up.map(panel.py);
      pen.strokeStyle = colour("ink");
      pen.lineWidth = 1.2;
      pen.setLineDash([5, 4]);
      pen.strokeRect(left, top, right - left, bottom - top);
      pen.setLineDash([]);
    }

    ring(pen, panel) {
      const p = panel.points[panel.at];
      pen.strokeStyle = colour("ink");
      pen.lineWidth = 2.5;
      pen.beginPath();
      pen.arc(panel.px(p.x), panel.py(p.y), 7, 0, 7);
      pen.stroke();
    }

    select(panel, at) {
      if (panel.at === at) return;
      panel.at = at;
      this.paint(panel);
      if (at === null) { this.readout.textContent = this.hint; return; }
      const p = panel.points[at], x = data.columns[this.across.value], y = data.columns[this.up.value];
      this.readout.textContent = `${panel.side} row ${p.row}: ${x.name} ${short(inUnits(x, p.x))}, ` +
        `${y.name} ${short(inUnits(y, p.y))}${p.marked ? ` (mode ${Number(this.mode.value) + 1})` : ""}`;
    }

    hover(panel, event) {
      const frame = panel.canvas.getBoundingClientRect();
      const x = event.clientX - frame.left, y = event.clientY - frame.top;
      let best = null, nearest = REACH ** 2;
      panel.points.forEach((p, k) => {
        const distance = (panel.px(p.x) - x) ** 2 + (panel.py(p.y) - y) ** 2;
        if (distance <= nearest) { nearest = distance; best = k; }
      });
      this.select(panel, best);
    }

    walk(panel, event) {
      const order = panel.points.map((p, k) => k).sort((a, b) =>
        panel.points[b].marked - panel.points[a].marked || panel.points[a].x - panel.points[b].x);
      const now = order.indexOf(panel.at), last = order.length - 1;
      const next = { ArrowRight: Math.min(last, now + 1), ArrowDown: Math.min(last, now + 1), ArrowLeft: Math.max(0, now - 1),
        ArrowUp: Math.max(0, now - 1), Home: 0, End: last }[event.key];
      if (event.key === "Escape") this.select(panel, null);
      if (next === undefined || last < 0) return;
      event.preventDefault();
      this.select(panel, order[next]);
    }
  }

  function download(number) {
    const mode = modes[number];
    const lines = positions(mode.rows).map(row => `${number + 1},${mode.side},${row}`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(["mode,sample,row\n", lines.join("\n"), "\n"], { type: "text/csv" }));
    link.download = `mode-${number + 1}-rows.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  const explorers = [...document.querySelectorAll(".explorer")].map(root => new Explorer(root));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorers.forEach(one => one.draw()));
  for (const button of document.querySelectorAll("button[data-rows]")) {
    button.hidden = false;
    button.addEventListener("click", () => download(Number(button.dataset.rows)));
  }
})();
