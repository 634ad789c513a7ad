"use strict";
// The weights explorer. All values come from the WebAssembly of bcl-posterior; this script only draws them.

const data = JSON.parse(document.getElementById("explorer-data").textContent);
const NAMES = ["alpha", "beta", "tau_plus", "num_negatives", "temperature"];
const byId = (id) => document.getElementById(id);
const HEIGHT = 280, LEFT = 50, RIGHT = 12, TOP = 12, BOTTOM = 42;
/** Width of each chart in pixels: that of its card, so that text keeps its size on a phone. */
let WIDTH = 440;

const bytes = Uint8Array.from(atob(data.wasm), (char) => char.charCodeAt(0));
WebAssembly.instantiate(bytes).then(({ instance }) => start(instance.exports), fail);

function fail(error) {
  byId("state").textContent = `This browser cannot run the page's WebAssembly (${error}), so there are no charts.`;
  document.body.dataset.check = "failed";
}

function start(rust) {
  const worst = largestDeviation(rust);
  document.body.dataset.check = worst <= 1e-12 ? "ok" : "failed";
  byId("state").textContent = worst <= 1e-12
    ? `Computed in this page by bcl-posterior, compiled to WebAssembly. ${data.checks.length} values agree with those computed in Rust to 1e-12.`
    : `The WebAssembly of this page deviates from Rust by ${worst}: do not trust it.`;
  const read = connect(() => draw(rust, read()));
  draw(rust, read());
  window.addEventListener("resize", () => draw(rust, read()));
}

/** The largest difference from the values computed in Rust, relative to values above 1. */
function largestDeviation(rust) {
  return Math.max(...data.checks.map(({ function: name, arguments: values, value }) => {
    const deviation = Math.abs(rust[name](...values) - value) / Math.max(1, Math.abs(value));
    return Number.isNaN(deviation) ? Infinity : deviation;
  }));
}

/* Controls */

// The number of negatives has a logarithmic slider.
const LOGARITHMIC = { num_negatives: true };
const toSlider = (name, value) => (LOGARITHMIC[name] ? Math.log2(value) : value);
const fromSlider = (name, value) => (LOGARITHMIC[name] ? Math.round(2 ** value) : value);

/** Connects sliders, fields and the address; returns a function that reads the parameters. */
function connect(changed) {
  const form = byId("controls");
  // The last value of each parameter that was in range.
  const good = {};
  const show = (name, value) => {
    good[name] = value;
    byId(name).value = value;
    byId(`${name}-slider`).value = toSlider(name, value);
    describe(name, value);
  };
  for (const name of NAMES) {
    const [slider, field] = [byId(`${name}-slider`), byId(name)];
    if (LOGARITHMIC[name]) {
      Object.assign(slider, { min: 0, max: Math.log2(field.max), step: 0.02 });
    }
    slider.addEventListener("input", () => {
      good[name] = fromSlider(name, Number(slider.value));
      field.value = good[name];
      describe(name, good[name]);
      update();
    });
    field.addEventListener("input", () => {
      if (field.checkValidity() && field.value !== "") {
        good[name] = clamped(name, Number(field.value));
        slider.value = toSlider(name, good[name]);
        describe(name, good[name]);
        update();
      }
    });
    // A field that was left with a value out of range shows the last good one again.
    field.addEventListener("change", () => {
      if (!field.checkValidity() || field.value === "") show(name, good[name]);
    });
  }
  const read = () => {
    const surface = form.elements.surface.value;
    return { ...good, surface };
  };
  const update = () => {
    const now = read();
    history.replaceState(null, "", `#${new URLSearchParams(now)}`);
    changed();
  };
  for (const radio of form.elements.surface) radio.addEventListener("change", update);
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    for (const name of NAMES) show(name, data.settings[name]);
    form.elements.surface.value = "bayesian";
    update();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  const restore = () => {
    const wanted = new URLSearchParams(location.hash.slice(1));
    for (const name of NAMES) {
      const value = wanted.has(name) ? Number(wanted.get(name)) : NaN;
      show(name, Number.isFinite(value) ? clamped(name, value) : data.settings[name]);
    }
    const surface = wanted.get("surface");
    form.elements.surface.value = ["bayesian", "info_nce", "difference"].includes(surface) ? surface : "bayesian";
  };
  window.addEventListener("hashchange", () => { restore(); changed(); });
  restore();
  form.hidden = false;
  return read;
}

/** What a screen reader says of a slider: its value, not its position. */
function describe(name, value) {
  byId(`${name}-slider`).setAttribute("aria-valuetext", value);
}

function clamped(name, value) {
  const field = byId(name);
  const within = Math.min(Number(field.max), Math.max(Number(field.min), value));
  return name === "num_negatives" ? Math.round(within) : within;
}

/* Drawing */

function draw(rust, now) {
  WIDTH = Math.max(260, byId("chart-omega").clientWidth);
  const { alpha, beta, tau_plus: tau, num_negatives: count } = now;
  const weight = (rank) => rust.omega(alpha, beta, tau, rank);
  const neutral = rust.neutral_beta(alpha, beta, tau);
  const size = rust.effective_sample_size(alpha, beta, tau, count);
  const undefined_ = Number.isNaN(weight(0.5));
  numbers([
    ["effective sample size", undefined_ ? "–" : `${shown(size)} of ${count}`],
    ["mean weight", undefined_ ? "–" : shown(rust.mean_weight(alpha, beta, tau, count))],
    ["smallest and largest weight", undefined_ ? "–" : extremes(weight, count)],
    ["neutral β", undefined_ ? "–" : shown(neutral)],
    ["AUC in the model", shown((1 + 4 * alpha) / 6)],
    ["effect", undefined_ ? "α = β = 1: the weight is 0/0" : weight(0) === weight(1) ? winner(neutral, neutral) : winner(beta, neutral)],
  ]);
  const ranks = steps(0, 1, 200);
  chart("omega", {
    x: "rank / N", y: "weight ω", from: 0, lines: [{ colour: 0, points: ranks.map((rank) => [rank, weight(rank)]) }], reference: 1,
    summary: `The weight goes from ${shown(weight(0))} at the lowest rank to ${shown(weight(1))} at the highest.`,
  });
  const probability = (rank) => rust.p_true_negative(alpha, beta, tau, rank);
  chart("probability", {
    x: "rank / N", y: "P(TN | x)", from: 0, to: 1, lines: [{ colour: 2, points: ranks.map((rank) => [rank, probability(rank)]) }], reference: 1 - tau,
    referenceName: "τ-", summary: `The probability goes from ${shown(probability(0))} to ${shown(probability(1))}.`,
  });
  const scores = steps(-4, 4, 160);
  chart("densities", {
    x: "score x, φ = N(0, 1)", y: "density", from: 0,
    lines: [
      { colour: 2, name: "true negatives", points: scores.map((score) => [score, rust.density_true_negative(alpha, score)]) },
      { colour: 1, name: "false negatives", points: scores.map((score) => [score, rust.density_false_negative(alpha, score)]) },
      { colour: 7, dash: 1, name: "unlabelled", points: scores.map((score) => [score, rust.density_unlabelled(alpha, beta, tau, score)]) },
    ],
    summary: "Densities of true negatives, of false negatives and of both together.",
  });
  surface(rust, now);
}

function winner(beta, neutral) {
  if (Math.abs(beta - neutral) < 5e-4) return "neither: the loss is InfoNCE";
  return beta > neutral ? "hardness: ω rises with the score" : "debiasing: ω falls with the score";
}

function extremes(weight, count) {
  const ends = [weight(1 / count), weight(1)];
  return `${shown(Math.min(...ends))} and ${shown(Math.max(...ends))}`;
}

function numbers(pairs) {
  byId("numbers").replaceChildren(...pairs.map(([name, value]) => {
    const row = document.createElement("div");
    const [term, text] = [document.createElement("dt"), document.createElement("dd")];
    term.textContent = name;
    text.textContent = value;
    row.append(term, text);
    return row;
  }));
}

/** Draws lines into the chart `id`. Values that are no numbers interrupt a line. */
function chart(id, { x, y, lines, from, to, reference, referenceName, summary }) {
  const all = lines.flatMap(({ points }) => points).filter(([, value]) => Number.isFinite(value));
  if (all.length === 0) return empty(id);
  const values = all.map(([, value]) => value).concat(reference ?? []);
  // A pole would flatten everything else.
  const sorted = values.slice().sort((a, b) => a - b);
  const high = to ?? Math.min(sorted.at(-1), 6 * sorted[Math.floor(0.9 * (sorted.length - 1))] || 1);
  const named = lines.filter(({ name }) => name);
  // Room above the lines, for the legend too.
  const room = to === undefined ? 1.05 + 0.1 * named.length : 1;
  const plot = plane([all[0][0], all.at(-1)[0]], [from ?? sorted[0], high * room], x, y);
  let body = plot.frame;
  if (reference !== undefined) {
    body += `<line class="reference" x1="${plot.x(plot.xs[0])}" x2="${plot.x(plot.xs[1])}" y1="${plot.y(reference)}" y2="${plot.y(reference)}"/>`;
    if (referenceName) body += `<text x="${plot.x(plot.xs[1]) - 4}" y="${plot.y(reference) - 5}" text-anchor="end">${referenceName}</text>`;
  }
  lines.forEach(({ colour, dash, points }) => {
    let path = "", pen = "M";
    for (const [at, value] of points) {
      if (!Number.isFinite(value)) { pen = "M"; continue; }
      path += `${pen}${plot.x(at).toFixed(1)} ${Math.max(TOP, plot.y(value)).toFixed(1)}`;
      pen = "L";
    }
    body += `<path class="line c${colour}${dash ? ` d${dash}` : ""}" d="${path}"/>`;
  });
  named.forEach(({ colour, dash, name }, index) => {
    const at = TOP + 14 + 18 * index;
    body += `<path class="line c${colour}${dash ? ` d${dash}` : ""}" d="M${LEFT + 10} ${at - 4}h22"/><text class="label" x="${LEFT + 38}" y="${at}">${name}</text>`;
  });
  picture(id, body, summary);
}

function empty(id) {
  picture(id, `<text x="${WIDTH / 2}" y="${HEIGHT / 2}" text-anchor="middle">not defined for these parameters</text>`, "Not defined for these parameters.");
}

/* The surface */

const CELLS = 48;
/** From dark to light; readable in both themes and for colour-blind readers (the stops of cividis). */
const COLOURS = [[0, 34, 78], [53, 69, 108], [102, 105, 112], [148, 142, 119], [200, 184, 102], [254, 232, 56]];

function surface(rust, { alpha, beta, tau_plus: tau, num_negatives: count, temperature, surface: kind }) {
  const similarities = steps(-1, 1, CELLS);
  const masses = (bayesian) => similarities.map((negative) => rust.negative_mass(alpha, beta, tau, count, temperature, negative, bayesian));
  const [own, equal] = [masses(1), masses(0)];
  const value = (positive, column) => {
    const [first, second] = [rust.loss(own[column], positive, temperature), rust.loss(equal[column], positive, temperature)];
    return { bayesian: first, info_nce: second, difference: first - second }[kind];
  };
  const rows = similarities.map((positive) => similarities.map((_, column) => value(positive, column)));
  const all = rows.flat();
  if (!all.every(Number.isFinite)) return empty("surface");
  const [low, high] = [Math.min(...all), Math.max(...all)];
  const plot = plane([-1, 1], [-1, 1], "similarity of one negative", "similarity of the positive", 58);
  const box = { x: plot.x(-1), y: plot.y(1), width: plot.x(1) - plot.x(-1), height: plot.y(-1) - plot.y(1) };
  let body = plot.frame + `<image x="${box.x}" y="${box.y}" width="${box.width}" height="${box.height}" preserveAspectRatio="none" href="${heat(rows, low, high)}"/>`;
  const labels = [];
  for (const level of ticks(low, high, 6)) body += contour(rows, level, plot, labels);
  picture("surface", body + scale(low, high), `The loss goes from ${shown(low)} to ${shown(high)} nats.`);
}

/** The colours of the rows as a picture, the first row at the bottom. */
function heat(rows, low, high) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = rows.length;
  const context = canvas.getContext("2d");
  const pixels = context.createImageData(rows.length, rows.length);
  rows.forEach((row, index) => row.forEach((value, column) => {
    const at = 4 * ((rows.length - 1 - index) * rows.length + column);
    pixels.data.set([...colour(high > low ? (value - low) / (high - low) : 0.5), 255], at);
  }));
  context.putImageData(pixels, 0, 0);
  return canvas.toDataURL();
}

function colour(share) {
  const at = share * (COLOURS.length - 1);
  const index = Math.min(COLOURS.length - 2, Math.floor(at));
  return COLOURS[index].map((from, channel) => from + (at - index) * (COLOURS[index + 1][channel] - from));
}

/** The line of one level by marching squares, and its label if there is room; `labels` has the heights of those before. */
function contour(rows, level, plot, labels) {
  const last = rows.length - 1;
  const place = (index) => -1 + (2 * index) / last;
  let path = "", label = null;
  for (let row = 0; row < last; row += 1) {
    for (let column = 0; column < last; column += 1) {
      const corners = [[row, column], [row, column + 1], [row + 1, column + 1], [row + 1, column]];
      const crossings = [];
      corners.forEach(([r, c], index) => {
        const [nextRow, nextColumn] = corners[(index + 1) % 4];
        const [here, there] = [rows[r][c] - level, rows[nextRow][nextColumn] - level];
        if (here < 0 !== there < 0) {
          const share = here / (here - there);
          crossings.push([plot.x(place(c + share * (nextColumn - c))), plot.y(place(r + share * (nextRow - r)))]);
        }
      });
      for (let pair = 0; pair + 1 < crossings.length; pair += 2) {
        path += `M${crossings[pair].map(fixed).join(" ")}L${crossings[pair + 1].map(fixed).join(" ")}`;
        const free = labels.every((height) => Math.abs(height - crossings[pair][1]) > 14);
        if (column === Math.floor(last / 3) && !label && free) label = crossings[pair];
      }
    }
  }
  if (label) labels.push(label[1]);
  const text = label ? `<text class="on-surface" x="${fixed(label[0])}" y="${fixed(label[1] + 4)}" text-anchor="middle">${shown(level)}</text>` : "";
  return `<path class="contour" d="${path}"/>${text}`;
}

const fixed = (value) => value.toFixed(1);

/** The colour scale at the right. */
function scale(low, high) {
  const [x, y, height] = [WIDTH - 46, TOP, HEIGHT - TOP - BOTTOM];
  const parts = 24;
  let body = "";
  for (let part = 0; part < parts; part += 1) {
    const fill = colour((parts - 1 - part) / (parts - 1)).map(Math.round);
    body += `<rect x="${x}" y="${fixed(y + (part * height) / parts)}" width="10" height="${fixed(height / parts + 0.6)}" fill="rgb(${fill})"/>`;
  }
  return `${body}<text x="${x + 14}" y="${y + 10}">${shown(high)}</text><text x="${x + 14}" y="${y + height}">${shown(low)}</text>`;
}

/* Planes, axes, numbers */

/** A plane with axes for values `xs` and `ys`. */
function plane(xs, ys, xName, yName, right = RIGHT) {
  const x = (value) => LEFT + ((value - xs[0]) / (xs[1] - xs[0])) * (WIDTH - LEFT - right);
  const y = (value) => HEIGHT - BOTTOM - ((value - ys[0]) / (ys[1] - ys[0])) * (HEIGHT - TOP - BOTTOM);
  let frame = "";
  for (const tick of ticks(...ys, 5)) {
    frame += `<line class="grid" x1="${LEFT}" x2="${WIDTH - right}" y1="${fixed(y(tick))}" y2="${fixed(y(tick))}"/><text x="${LEFT - 6}" y="${fixed(y(tick) + 4)}" text-anchor="end">${shown(tick)}</text>`;
  }
  for (const tick of ticks(...xs, 5)) {
    frame += `<text x="${fixed(x(tick))}" y="${HEIGHT - BOTTOM + 17}" text-anchor="middle">${shown(tick)}</text>`;
  }
  frame += `<path class="axis" d="M${LEFT} ${TOP}V${HEIGHT - BOTTOM}H${WIDTH - right}"/>`;
  frame += `<text class="label" x="${(LEFT + WIDTH - right) / 2}" y="${HEIGHT - 6}" text-anchor="middle">${xName}</text>`;
  const middle = (TOP + HEIGHT - BOTTOM) / 2;
  frame += `<text class="label" transform="rotate(-90 13 ${middle})" x="13" y="${middle}" text-anchor="middle">${yName}</text>`;
  return { x, y, xs, ys, frame };
}

/** Round values between `low` and `high`, about `count` of them. */
function ticks(low, high, count) {
  const rough = (high - low) / count;
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const values = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + 1e-9 * step; index += 1) values.push(index * step);
  return values;
}

function steps(low, high, count) {
  return Array.from({ length: count + 1 }, (_, index) => low + ((high - low) * index) / count);
}

function shown(value) {
  if (!Number.isFinite(value)) return "–";
  return String(Number(value.toPrecision(3)));
}

function picture(id, body, summary) {
  byId(`chart-${id}`).innerHTML = `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${summary}">${body}</svg>`;
}
