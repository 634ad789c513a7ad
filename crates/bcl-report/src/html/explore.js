// Adds controls to the table of all runs: sort, filter, and a chart of a metric. Everything it needs is in the page.
(() => {
  const section = document.getElementById("explore");
  const { metrics, shown, keys, runs } = JSON.parse(document.getElementById("explore-values").textContent);
  const table = section.querySelector("table");
  const body = table.tBodies[0];
  const rows = [...body.rows];
  const make = (tag, properties = {}, children = []) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const number = (text) => (text === null || text === "" || Number.isNaN(Number(text)) ? null : Number(text));

  // What can be drawn along x or filtered: name, and the value of a run as text or number.
  const fields = [
    ["recipe", (run) => run.recipe],
    ["data", (run) => run.data],
    ["seed", (run) => run.seed],
    ["epoch", (run) => run.epoch],
    ["time in seconds", (run) => run.seconds],
    ...keys.map((key, index) => [key, (run) => run.keys[index]]),
    ...metrics.map((metric, index) => [metric, (run) => run.metrics[index]]),
  ].filter(([, value]) => new Set(runs.map(value)).size > 1);
  const valueOf = new Map(fields);

  const choice = (label, names, start) => {
    const select = make("select", {}, names.map((name) => make("option", { textContent: name, value: name, selected: name === start })));
    controls.append(make("label", {}, [`${label} `, select]));
    return select;
  };
  const controls = make("form", { className: "controls" });
  controls.addEventListener("submit", (event) => event.preventDefault());
  const best = shown.at(-1) ?? metrics[0];
  const metric = choice("Metric", metrics, best);
  const numeric = keys.find((key) => fields.some(([name]) => name === key) && runs.every((run) => number(run.keys[keys.indexOf(key)]) !== null));
  const axis = choice("over", fields.map(([name]) => name), numeric ?? keys[0] ?? "epoch");
  const logarithmic = make("input", { type: "checkbox" });
  controls.append(make("label", {}, [logarithmic, " logarithmic"]));
  const key = choice("Only runs with", ["any setting", ...fields.map(([name]) => name).filter((name) => !metrics.includes(name))], "any setting");
  const wanted = make("select", { ariaLabel: "value of the setting" });
  controls.append(wanted);
  const count = make("output", {});
  controls.append(count);
  const picture = make("div", { className: "picture" });
  section.querySelector(".scroll").before(controls, picture);

  const offer = () => {
    const value = valueOf.get(key.value);
    const values = value ? [...new Set(runs.map((run) => String(value(run) ?? "–")))] : [];
    values.sort((a, b) => (number(a) ?? NaN) - (number(b) ?? NaN) || a.localeCompare(b));
    wanted.replaceChildren(...values.map((text) => make("option", { textContent: text, value: text })));
    wanted.hidden = values.length === 0;
  };
  const isShown = (run) => {
    const value = valueOf.get(key.value);
    return !value || String(value(run) ?? "–") === wanted.value;
  };

  // Written so that a search for addresses finds none: the name of a namespace is not one.
  const SVG = "http\u003a//www.w3.org/2000/svg";
  const draw = (tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    return element;
  };
  const short = (value) => String(Number(value.toPrecision(4)));

  const chart = () => {
    const y = (run) => run.metrics[metrics.indexOf(metric.value)];
    const x = valueOf.get(axis.value) ?? (() => "all");
    const points = runs.filter((run) => isShown(run) && y(run) !== null && (x(run) ?? null) !== null);
    const names = [...new Set(points.map((run) => String(x(run))))];
    const isNumeric = points.every((run) => number(x(run)) !== null);
    const canLog = isNumeric && points.every((run) => number(x(run)) > 0);
    logarithmic.disabled = !canLog;
    const along = (run) => {
      if (!isNumeric) return names.indexOf(String(x(run)));
      return canLog && logarithmic.checked ? Math.log10(number(x(run))) : number(x(run));
    };
    const [width, height, left, right, top, bottom] = [760, 300, 64, 16, 12, 44];
    const range = (values) => {
      const [low, high] = [Math.min(...values), Math.max(...values)];
      const margin = (high - low || Math.abs(high) || 1) * 0.06;
      return [low - margin, high + margin];
    };
    picture.replaceChildren();
    if (points.length === 0) {
      picture.append(make("p", { className: "intro", textContent: "No run has both values." }));
      return;
    }
    const [x0, x1] = range(points.map(along));
    const [y0, y1] = range(points.map(y));
    const atX = (value) => left + (value - x0) / (x1 - x0) * (width - left - right);
    const atY = (value) => height - bottom - (value - y0) / (y1 - y0) * (height - top - bottom);
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${metric.value} over ${axis.value}, ${points.length} runs; the table has the values` });
    for (const part of [0.08, 0.36, 0.64, 0.92]) {
      const value = y0 + part * (y1 - y0);
      svg.append(draw("path", { class: "grid", d: `M${left} ${atY(value)}H${width - right}` }));
      svg.append(draw("text", { x: left - 8, y: atY(value) + 4, "text-anchor": "end" }, short(value)));
    }
    const few = [...new Set(points.map(along))].sort((a, b) => a - b);
    const step = Math.ceil(few.length / 8);
    few.forEach((value, index) => {
      if (index % step !== 0) return;
      const label = isNumeric ? short(canLog && logarithmic.checked ? 10 ** value : value) : names[value];
      svg.append(draw("text", { x: atX(value), y: height - bottom + 18, "text-anchor": "middle" }, label.length > 16 ? `…${label.slice(-15)}` : label));
    });
    svg.append(draw("path", { class: "axis", d: `M${left} ${height - bottom}H${width - right}` }));
    svg.append(draw("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, axis.value));
    for (const run of points) {
      const dot = draw("circle", { class: `mark c${run.colour}`, cx: atX(along(run)), cy: atY(y(run)), r: 4.5 });
      dot.append(draw("title", {}, `${run.recipe}, seed ${run.seed}: ${metric.value} ${short(y(run))}, ${axis.value} ${x(run)}`));
      svg.append(dot);
    }
    picture.append(svg);
  };

  const update = () => {
    const visible = rows.filter((row, index) => !(row.hidden = !isShown(runs[index]))).length;
    count.textContent = `${visible} of ${runs.length} runs`;
    chart();
  };

  // Sorting: each header becomes a button. Missing values come last in both directions.
  const heads = [...table.tHead.rows[0].cells];
  const compare = (a, b, sign) => {
    if (a === "–" || b === "–") return a === b ? 0 : a === "–" ? 1 : -1;
    const [x, y] = [number(a), number(b)];
    return sign * (x !== null && y !== null ? x - y : a.localeCompare(b, undefined, { numeric: true }));
  };
  heads.forEach((cell, column) => {
    const isTime = cell.textContent === "time";
    const button = make("button", { type: "button", textContent: cell.textContent });
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = cell.ariaSort === "ascending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const text = (row) => (isTime ? String(runs[rows.indexOf(row)].seconds) : row.cells[column].textContent);
      const texts = new Map(rows.map((row) => [row, text(row)]));
      const sorted = [...rows].sort((a, b) => compare(texts.get(a), texts.get(b), down ? -1 : 1));
      body.replaceChildren(...sorted);
    });
  });

  key.addEventListener("change", offer);
  controls.addEventListener("change", update);
  offer();
  update();
})();
