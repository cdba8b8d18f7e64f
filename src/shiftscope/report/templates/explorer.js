"use strict";
(() => {
  const STEPS = 65000, OUTSIDE = 65535, REACH = 14, PAD = { right: 10, top: 26, bottom: 44 };
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
  const DAY = 86400;

  function inWords(column, step) {
    const value = column.low + (step / STEPS) * (column.high - column.low);
    if (column.labels.length) return column.labels[Math.round(value)];
    if (column.gap !== null && value < column.gap) return "missing";
    if (column.kind === "duration") return Math.abs(value) < DAY ? `${short(value)} s` : `${short(value / DAY)} days`;
    const span = column.high - column.low, when = new Date(value * 1000);
    if (column.kind === "number" || isNaN(when)) return short(value);
    const text = when.toISOString();
    if (column.kind === "time") return text.slice(11, 19);
    return text.slice(0, text.indexOf("T") + (span > 60 * DAY ? 0 : 6)).replace("T", " ");
  }

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
      pen.scale(ratio, ratio);
      pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
      const widest = Math.max(0, ...y.ticks.map(tick => pen.measureText(tick[1]).width));
      const left = Math.min(26 + widest, 0.4 * wide);
      const area = { left, width: wide - left - PAD.right, height: high - PAD.top - PAD.bottom };
      panel.px = step => left + (step / STEPS) * area.width;
      panel.py = step => high - PAD.bottom - (step / STEPS) * area.height;
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
      this.boxes(pen, panel);
      const what = panel.side === this.marks.side ? `, rows of mode ${Number(this.mode.value) + 1} ringed` : "";
      canvas.setAttribute("aria-label",
        `Rows of the ${panel.side} sample: ${y.name} against ${x.name}${what}. Arrow keys walk through the rows.`);
      if (panel.at !== null) this.ring(pen, panel);
    }

    frame(pen, panel, x, y, area, high) {
      const font = getComputedStyle(document.body).fontFamily, floor = high - PAD.bottom;
      pen.font = `600 13px ${font}`;
      pen.fillStyle = colour(panel.side);
      pen.fillText(`${panel.side} sample`, area.left, 16);
      pen.font = `12px ${font}`;
      pen.fillStyle = pen.strokeStyle = colour("soft");
      pen.lineWidth = 1;
      pen.strokeRect(area.left + 0.5, PAD.top + 0.5, area.width, area.height);
      pen.textAlign = "center";
      const room = area.width / Math.max(1, x.ticks.length);
      const crowded = x.ticks.some(tick => pen.measureText(tick[1]).width > room - 4);
      x.ticks.forEach(([at, label], k) => {
        const row = crowded && x.ticks.length > 1 ? k % 2 : 0;  // neighbours take turns
        pen.fillText(label, area.left + at * area.width, floor + 14 + 12 * row, (crowded ? 2 : 1) * room);
      });
      pen.fillText(x.label, area.left + area.width / 2, high - 4, area.width);
      pen.textAlign = "right";
      for (const [at, label] of y.ticks) pen.fillText(label, area.left - 6, floor - at * area.height + 4, area.left - 22);
      pen.save();
      pen.translate(12, PAD.top + area.height / 2);
      pen.rotate(-Math.PI / 2);
      pen.textAlign = "center";
      pen.fillText(y.label, 0, 0, area.height);
      pen.restore();
    }

    boxes(pen, panel) {
      const x = Number(this.across.value), y = Number(this.up.value), [low, high] = x < y ? [x, y] : [y, x];
      const found = (x === y ? null : this.marks.boxes[high * (high - 1) / 2 + low]) ?? [];
      pen.strokeStyle = colour("ink");
      pen.lineWidth = 1.2;
      pen.setLineDash([5, 4]);
      for (const box of found) {
        const [left, right, bottom, top] = x < y ? box : [box[2], box[3], box[0], box[1]];
        pen.strokeRect(panel.px(left), panel.py(top), panel.px(right) - panel.px(left), panel.py(bottom) - panel.py(top));
      }
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
      this.readout.textContent = `${panel.side} row ${p.row}: ${x.name} ${inWords(x, p.x)}, ` +
        `${y.name} ${inWords(y, p.y)}${p.marked ? ` (mode ${Number(this.mode.value) + 1})` : ""}`;
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

  function sortable(table) {
    const body = table.tBodies[0], headings = [...table.tHead.rows[0].cells];
    const cell = (row, at) => row.cells[at].dataset.value ?? row.cells[at].textContent.trim();
    headings.forEach((heading, at) => {
      const kind = heading.dataset.sort;
      if (!kind) return;
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const falling = heading.getAttribute("aria-sort") === "ascending";
        headings.forEach(other => other.removeAttribute("aria-sort"));
        heading.setAttribute("aria-sort", falling ? "descending" : "ascending");
        const order = kind === "number" ? (a, b) => Number(cell(a, at)) - Number(cell(b, at))
          : (a, b) => cell(a, at).localeCompare(cell(b, at), undefined, { numeric: true });
        body.append(...[...body.rows].sort((a, b) => (falling ? -1 : 1) * order(a, b)));
      });
    });
  }

  function filtered(controls, table) {
    const part = controls.querySelector("[name=part]"), differing = controls.querySelector("[name=differing]");
    const apply = () => {
      for (const row of table.tBodies[0].rows) {
        const named = row.cells[0].textContent.toLowerCase().includes(part.value.trim().toLowerCase());
        row.hidden = !named || (differing.checked && !row.classList.contains("differs"));
      }
    };
    for (const control of [part, differing]) control.addEventListener("input", apply);
    controls.hidden = false;
  }

  const overview = document.querySelector(".overview");
  sortable(overview);
  filtered(document.querySelector(".filter"), overview);

  const explorers = [...document.querySelectorAll(".explorer")].map(root => new Explorer(root));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => explorers.forEach(one => one.draw()));
  for (const button of document.querySelectorAll("button[data-rows]")) {
    button.hidden = false;
    button.addEventListener("click", () => download(Number(button.dataset.rows)));
  }
})();
