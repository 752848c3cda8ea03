"use strict";
// Draws the charts of a report from the data in the page. Text from data only ever becomes text nodes.
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const tip = document.getElementById("tip");
  const charts = [];
  let query = "";

  // ---------------------------------------------------------------- small things

  function svg(tag, attributes, parent) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    if (parent) parent.append(node);
    return node;
  }

  function element(tag, className, parent, text) {
    const node = document.createElement(tag);
    if (className) node.className = className;
    if (text !== undefined) node.textContent = text;
    if (parent) parent.append(node);
    return node;
  }

  // As numbers in tables: three digits, 1 234, 1.2e-6
  function number(value, digits = 3) {
    if (value === null || value === undefined || Number.isNaN(value)) return "–";
    let text;
    const size = Math.abs(value);
    if ((Number.isInteger(value) || size >= 1000) && size < 1e6) text = size.toFixed(0).replace(/\B(?=(\d{3})+$)/g, "\u202f");
    else if (size < 1e-3 || size >= 1e6) text = size.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
    else text = size.toPrecision(digits);
    return (value < 0 ? "\u2212" : "") + text;
  }

  // Of an axis, whose numbers are round: without zeros at the end
  const tick = (value) => number(value, 6).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");

  const finite = (value) => value !== null && value !== undefined && Number.isFinite(value);
  const matches = (name) => name !== undefined && name.toLowerCase().includes(query);

  // ---------------------------------------------------------------- scales

  function linearTicks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= rough * 0.999);
    const ticks = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(Number((k * step).toPrecision(12)));
    return ticks;
  }

  function logTicks(low, high, most) {
    const first = Math.ceil(Math.log10(low) - 1e-9), last = Math.floor(Math.log10(high) + 1e-9);
    if (last - first >= 1) {
      const step = Math.max(1, Math.ceil((last - first) / most)), ticks = [];
      for (let k = first; k <= last; k += step) ticks.push(10 ** k);
      return ticks;
    }
    const ticks = [];
    for (let k = first - 2; k <= last + 1; k++) for (const m of [1, 2, 3, 5]) ticks.push(m * 10 ** k);
    const inside = ticks.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    return inside.length > 1 ? inside : linearTicks(low, high, most);
  }

  // A scale from values to pixels, with a little room at both ends
  function scale(values, log, from, to, most, zero) {
    const kept = values.filter((v) => finite(v) && (!log || v > 0));
    let low = Math.min(...kept), high = Math.max(...kept);
    if (!kept.length) [low, high] = log ? [0.1, 1] : [0, 1];
    if (zero) low = Math.min(low, 0), high = Math.max(high, 0);
    const f = log ? Math.log10 : (v) => v, back = log ? (v) => 10 ** v : (v) => v;
    let a = f(low), b = f(high);
    if (a === b) { const pad = log ? 0.5 : Math.abs(a) * 0.1 || 0.5; a -= pad; b += pad; }
    const room = 0.04 * (b - a);
    if (!(zero && low === 0)) a -= room;
    b += room;
    const at = (v) => (finite(v) && (!log || v > 0) ? from + ((f(v) - a) / (b - a)) * (to - from) : NaN);
    at.ticks = (log ? logTicks : linearTicks)(back(a), back(b), most);
    return at;
  }

  const values = (chart, series, name) => {
    const given = series[name];
    return typeof given === "string" ? chart.spec.shared[given] : given;
  };

  // ---------------------------------------------------------------- one chart

  class Picture {
    constructor(figure, spec) {
      Object.assign(this, { figure, spec, view: 0, hidden: new Set(), hits: [], active: -1 });
      const note = figure.querySelector(".note");
      if (spec.views.length > 1) this.chooser(note);
      this.plot = element("div", "plot");
      this.keys = element("div", "keys");
      figure.insertBefore(this.plot, note);
      figure.insertBefore(this.keys, note);
      this.plot.addEventListener("pointermove", (event) => this.hover(event));
      this.plot.addEventListener("pointerdown", (event) => this.hover(event));
      this.plot.addEventListener("pointerleave", () => this.leave());
      this.plot.addEventListener("keydown", (event) => this.step(event));
      this.plot.addEventListener("blur", () => this.leave());
      this.plot.tabIndex = 0;
      this.plot.setAttribute("role", "group");
      this.plot.setAttribute("aria-label", `${figure.querySelector("figcaption").textContent}: ${spec.y.label} over ${spec.x.label}`);
      this.legend();
      new ResizeObserver(() => { if (this.plot.clientWidth !== this.width) this.draw(); }).observe(this.plot);
    }

    chooser(note) {
      const row = element("div", "choose"), label = element("label", "", row);
      element("span", "", label, this.spec.choose || "view");
      this.select = element("select", "", label);
      this.select.setAttribute("aria-label", this.spec.choose || "view");
      this.options();
      this.select.addEventListener("change", () => this.show(Number(this.select.value)));
      for (const [text, by, name] of [["‹", -1, "previous"], ["›", 1, "next"]]) {
        const button = element("button", "", row, text);
        button.type = "button";
        button.setAttribute("aria-label", name);
        button.addEventListener("click", () => {
          const k = this.select.selectedIndex + by;
          if (k < 0 || k >= this.select.length) return;
          this.select.selectedIndex = k;
          this.show(Number(this.select.value));
        });
      }
      this.figure.insertBefore(row, note);
    }

    // Of samples those whose name is searched for
    options() {
      const all = this.spec.views.map((view, k) => [k, view.label, view.sample]);
      const some = all.filter(([, label, sample]) => !query || !sample || matches(label));
      this.select.replaceChildren(...(some.length ? some : all).map(([k, label]) => {
        const option = element("option", "", null, label);
        option.value = k;
        return option;
      }));
      if (![...this.select.options].some((option) => Number(option.value) === this.view)) this.view = Number(this.select.options[0].value);
      this.select.value = this.view;
    }

    show(view) {
      this.view = view;
      this.leave();
      this.legend();
      this.draw();
    }

    get series() { return this.spec.views[this.view].series; }
    get visible() { return this.series.filter((one) => !this.hidden.has(one.name)); }

    legend() {
      this.keys.replaceChildren();
      const named = this.series.filter((one) => one.name);
      if (named.length < 2 && !named.some((one) => one.lower)) return;
      for (const one of named) {
        const key = element("button", "key", this.keys);
        key.type = "button";
        key.setAttribute("aria-pressed", String(!this.hidden.has(one.name)));
        const swatch = svg("svg", { width: 18, height: 10, "aria-hidden": "true" }, key);
        this.swatch(swatch, one);
        element("span", "", key, one.name);
        key.addEventListener("click", () => {
          if (!this.hidden.delete(one.name)) this.hidden.add(one.name);
          key.setAttribute("aria-pressed", String(!this.hidden.has(one.name)));
          this.leave();
          this.draw();
        });
      }
    }

    swatch(node, one) {
      const color = `var(--${one.color})`;
      if (one.kind === "points") svg("circle", { cx: 9, cy: 5, r: 3.5 }, node).style.fill = color;
      else if (one.kind === "band" || one.kind === "bars") {
        const box = svg("rect", { width: 18, height: 10, rx: 2 }, node);
        box.style.fill = color;
        box.style.opacity = one.kind === "band" ? 0.3 : 0.65;
      } else {
        const line = svg("path", { d: "M0 5H18" }, node);
        line.style.stroke = color;
        line.style.strokeWidth = 2;
        if (one.dashed) line.style.strokeDasharray = "4 3";
      }
    }

    // -------------------------------------------------------------- drawing

    draw() {
      this.width = this.plot.clientWidth;
      if (!this.width) return;
      const width = this.width, most = Math.max(4, Math.floor(width / 90));
      const height = Math.round(Math.min(340, Math.max(230, this.spec.diagonal ? width * 0.8 : width * 0.6)));
      const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" });
      const shown = this.visible, all = (names) => shown.flatMap((one) => names.flatMap((n) => values(this, one, n) || []));
      const bars = shown.some((one) => one.kind === "bars");
      let xs = all(["x", ...(bars ? ["ends"] : [])]), ys = all(["y", "lower", "upper"]);
      if (this.spec.diagonal) [xs, ys] = [xs.concat(all(["y"])), ys.concat(xs)];
      this.ends = xs.filter(finite);
      const top = 12, bottom = height - 42;
      const y = scale(ys, this.spec.y.log, bottom, top, 5, bars);
      const labels = y.ticks.map(tick), left = 14 + 7 * Math.max(2, ...labels.map((l) => l.length)) + 14;
      const x = scale(xs, this.spec.x.log, left, width - 12, most);
      this.axes(root, x, y, { left, right: width - 12, top, bottom }, labels);
      this.hits = [];
      const order = { band: 0, bars: 1, rule: 2, line: 3, points: 4 };
      [...shown].sort((a, b) => order[a.kind] - order[b.kind]).forEach((one) => this[one.kind](root, one, x, y, { left, right: width - 12, top, bottom }));
      if (![...xs, ...ys].some(finite)) {
        svg("text", { x: (left + width) / 2, y: (top + bottom) / 2, "text-anchor": "middle" }, root).textContent = "nothing to draw";
      }
      this.hits.sort((a, b) => a.x - b.x);
      this.marker = svg("circle", { r: 6, fill: "none", "stroke-width": 2, visibility: "hidden", class: "marker" }, root);
      this.marker.style.stroke = "var(--text)";
      this.plot.replaceChildren(root);
    }

    axes(root, x, y, box, labels) {
      const grid = svg("g", {}, root);
      y.ticks.forEach((t, k) => {
        svg("path", { class: "grid", d: `M${box.left} ${y(t)}H${box.right}` }, grid);
        svg("text", { x: box.left - 7, y: y(t) + 4, "text-anchor": "end" }, grid).textContent = labels[k];
      });
      let last = -Infinity;
      for (const t of x.ticks) {
        const text = tick(t), half = 3.6 * text.length;
        if (x(t) - half < last + 6) continue;
        last = x(t) + half;
        svg("path", { class: "axis", d: `M${x(t)} ${box.bottom}v4` }, grid);
        svg("text", { x: Math.min(x(t), box.right + 12 - half), y: box.bottom + 17, "text-anchor": "middle" }, grid).textContent = text;
      }
      svg("path", { class: "axis", d: `M${box.left} ${box.bottom}H${box.right}` }, grid);
      svg("text", { x: (box.left + box.right) / 2, y: box.bottom + 36, "text-anchor": "middle" }, grid).textContent = this.spec.x.label;
      const middle = (box.top + box.bottom) / 2;
      svg("text", { x: 0, y: 0, transform: `translate(11 ${middle}) rotate(-90)`, "text-anchor": "middle" }, grid).textContent = this.spec.y.label;
      if (this.spec.diagonal) {
        const low = Math.min(...this.ends), high = Math.max(...this.ends);
        const line = svg("path", { d: `M${x(low)} ${y(low)}L${x(high)} ${y(high)}` }, grid);
        line.style.stroke = "var(--grey)";
        line.style.strokeDasharray = "3 4";
      }
    }

    line(root, one, x, y) {
      const xs = values(this, one, "x"), ys = values(this, one, "y");
      let d = "", pen = "M";
      xs.forEach((v, k) => {
        const px = x(v), py = y(ys[k]);
        if (!Number.isFinite(px) || !Number.isFinite(py)) { pen = "M"; return; }
        d += `${pen}${px.toFixed(1)} ${py.toFixed(1)}`;
        pen = "L";
        this.hits.push({ x: px, y: py, rows: [[one.name, ""], [this.spec.x.label, number(v, 4)], [this.spec.y.label, number(ys[k], 4)]] });
      });
      const path = svg("path", { d, fill: "none", "stroke-width": one.faint ? 1.2 : 2, "stroke-linejoin": "round" }, root);
      path.style.stroke = `var(--${one.color})`;
      if (one.faint) path.style.opacity = 0.55;
      if (one.dashed) path.style.strokeDasharray = "5 4";
    }

    band(root, one, x, y) {
      const xs = values(this, one, "x"), low = values(this, one, "lower"), high = values(this, one, "upper");
      const seen = xs.map((_, k) => k).filter((k) => [x(xs[k]), y(low[k]), y(high[k])].every(Number.isFinite));
      if (!seen.length) return;
      const up = seen.map((k) => `${x(xs[k]).toFixed(1)} ${y(high[k]).toFixed(1)}`);
      const down = seen.reverse().map((k) => `${x(xs[k]).toFixed(1)} ${y(low[k]).toFixed(1)}`);
      const path = svg("path", { d: `M${up.join("L")}L${down.join("L")}Z`, stroke: "none" }, root);
      path.style.fill = `var(--${one.color})`;
      path.style.opacity = 0.2;
    }

    bars(root, one, x, y, box) {
      const xs = values(this, one, "x"), ends = values(this, one, "ends"), ys = values(this, one, "y");
      const group = svg("g", {}, root);
      group.style.fill = `var(--${one.color})`;
      group.style.opacity = 0.65;
      xs.forEach((v, k) => {
        const a = x(v), b = x(ends[k]), h = y(ys[k]);
        if (ys[k] > 0) svg("rect", { x: a + 0.5, y: h, width: Math.max(b - a - 1, 1), height: Math.max(box.bottom - h, 0) }, group);
        const between = Number.isInteger(v + 0.5) && ends[k] - v === 1 ? number(v + 0.5) : `${number(v)} to ${number(ends[k])}`;
        if (ys[k] > 0) this.hits.push({ x: (a + b) / 2, y: h, rows: [[one.name, ""], [this.spec.x.label, between], [this.spec.y.label, number(ys[k])]] });
      });
    }

    rule(root, one, x, y, box) {
      const across = values(this, one, "y"), d = across ? `M${box.left} ${y(across[0])}H${box.right}` : `M${x(values(this, one, "x")[0])} ${box.top}V${box.bottom}`;
      if (d.includes("NaN")) return;
      const line = svg("path", { d, "stroke-width": 1.3, fill: "none" }, root);
      line.style.stroke = `var(--${one.color})`;
      if (one.faint) line.style.opacity = 0.6;
      if (one.dashed) line.style.strokeDasharray = "2 4";
    }

    points(root, one, x, y) {
      const xs = values(this, one, "x"), ys = values(this, one, "y"), names = one.names || [];
      const group = svg("g", {}, root), radius = xs.length > 400 ? 2.4 : one.names ? 3.6 : one.color === "red" ? 5 : 2.6;
      group.style.fill = group.style.stroke = `var(--${one.color})`;
      xs.forEach((v, k) => {
        const px = x(v), py = y(ys[k]);
        if (!Number.isFinite(px) || !Number.isFinite(py)) return;
        const faded = query && one.names && !matches(names[k]);
        const rows = [[names[k] === undefined ? one.name : names[k], ""], [this.spec.x.label, number(v, 4)], [this.spec.y.label, number(ys[k], 4)]];
        const node = svg("g", faded ? { class: "faded" } : {}, group);
        if (one.lower && finite(one.lower[k]) && finite(one.upper[k])) {
          const bar = svg("path", { d: `M${px.toFixed(1)} ${y(one.lower[k]).toFixed(1)}V${y(one.upper[k]).toFixed(1)}`, "stroke-width": 1 }, node);
          bar.style.opacity = 0.4;
          rows.push(["from", number(one.lower[k], 4)], ["to", number(one.upper[k], 4)]);
        }
        const dot = svg("circle", { cx: px.toFixed(1), cy: py.toFixed(1), r: query && one.names && !faded ? radius + 1.5 : radius, stroke: "none" }, node);
        dot.style.stroke = "none";
        dot.style.opacity = one.names ? 0.75 : 1;
        if (!faded) this.hits.push({ x: px, y: py, rows });
      });
    }

    // -------------------------------------------------------------- hover

    hover(event) {
      const box = this.plot.getBoundingClientRect();
      const px = event.clientX - box.left, py = event.clientY - box.top;
      let best = -1, least = 45 ** 2;
      this.hits.forEach((hit, k) => {
        const far = (hit.x - px) ** 2 + 0.35 * (hit.y - py) ** 2;
        if (far < least) [best, least] = [k, far];
      });
      if (best < 0) this.leave();
      else this.point(best);
    }

    step(event) {
      const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Escape") this.leave();
      if (!by || !this.hits.length) return;
      event.preventDefault();
      this.point((this.active + by + this.hits.length) % this.hits.length);
    }

    point(k) {
      this.active = k;
      const hit = this.hits[k], box = this.plot.getBoundingClientRect();
      this.marker.setAttribute("cx", hit.x);
      this.marker.setAttribute("cy", hit.y);
      this.marker.setAttribute("visibility", "visible");
      tip.replaceChildren();
      for (const [label, value] of hit.rows) {
        if (!value) element("b", "", tip, label);
        else element("div", "", tip, `${label} ${value}`);
      }
      tip.hidden = false;
      const page = document.documentElement.clientWidth, across = box.left + hit.x + 14;
      const left = across + tip.offsetWidth > page - 8 ? box.left + hit.x - tip.offsetWidth - 14 : across;
      tip.style.left = `${Math.max(8, left) + window.scrollX}px`;
      tip.style.top = `${Math.max(box.top + hit.y - tip.offsetHeight / 2, 8) + window.scrollY}px`;
    }

    leave() {
      this.active = -1;
      tip.hidden = true;
      if (this.marker) this.marker.setAttribute("visibility", "hidden");
    }
  }

  // ---------------------------------------------------------------- the page

  for (const section of data.sections) {
    for (const key in section.charts) {
      const figure = document.querySelector(`[data-chart="${key}"]`);
      charts.push(new Picture(figure, section.charts[key]));
    }
  }

  const find = document.getElementById("find"), found = document.getElementById("found");
  const rows = [...document.querySelectorAll("tr[data-name]")];
  const names = new Set([...rows.map((row) => row.dataset.name), ...charts.flatMap((c) => c.spec.views.flatMap((v) => [...(v.sample ? [v.label] : []), ...v.series.flatMap((s) => s.names || [])]))]);
  if (!names.size) find.hidden = true;
  find.addEventListener("input", () => {
    query = find.value.trim().toLowerCase();
    for (const row of rows) row.hidden = Boolean(query) && !matches(row.dataset.name);
    for (const chart of charts) {
      if (chart.select) { chart.options(); chart.legend(); }
      chart.leave();
      chart.draw();
    }
    const number_found = [...names].filter(matches).length;
    found.textContent = !query ? "" : number_found ? `${number_found} found` : "no sample of this name";
  });

  const theme = document.getElementById("theme"), root = document.documentElement;
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches);
  const say = () => { theme.textContent = dark() ? "Light" : "Dark"; };
  theme.addEventListener("click", () => { root.dataset.theme = dark() ? "light" : "dark"; say(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", say);
  say();
})();
