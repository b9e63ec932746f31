// A sequence chart of a window, by the rules of sequence.py, which writes the same to a file.

const MOST_ARROWS = 2000, MOST_BROKERS = 40, MOST_LABELS = 80;
const LEFT = 96, TOP = 40, ROW = 46, RIGHT = 30, FOOT = 44, STEP = 16, WIDEST = 16000;

function parseBrokers(text, count) {
  const found = [];
  for (const part of text.split(/[\s,]+/).filter(Boolean)) {
    const ends = /^(\d+)(?:-(\d+))?$/.exec(part);
    if (!ends) throw new Error(`“${part}” names no brokers; write 3, or 0-6.`);
    for (let n = Number(ends[1]); n <= Number(ends[2] ?? ends[1]); n++) {
      if (n >= count) throw new Error(`There is no broker ${n}; they are 0 to ${count - 1}.`);
      found.push(n);
    }
  }
  return [...new Set(found)];
}

class Chart {
  constructor(place, run, choose) {
    this.place = place;
    this.run = run;
    this.choose = choose;
  }

  arrows(begin, end, brokers) {
    const { source, target } = this.run.c, chosen = new Set(brokers), found = [];
    this.run.underWay(begin, end, (i) => {
      if (!brokers.length || (chosen.has(source[i]) && chosen.has(target[i]))) found.push(i);
    });
    return found;
  }

  draw(begin, end, brokers, axis) {
    if (!(end > begin)) throw new Error("The window ends before it begins.");
    const { run } = this, { source, target } = run.c;
    const arrows = this.arrows(begin, end, brokers);
    if (arrows.length > MOST_ARROWS) {
      throw new Error(`${arrows.length.toLocaleString("en")} messages are under way then; a chart`
        + ` has at most ${MOST_ARROWS.toLocaleString("en")}. Choose less time, brokers or types.`);
    }
    const taking = brokers.length ? brokers
      : [...new Set(arrows.flatMap((i) => [source[i], target[i]]))].sort((a, b) => a - b);
    if (!taking.length) throw new Error("No message is under way then.");
    if (taking.length > MOST_BROKERS) {
      throw new Error(`${taking.length} brokers take part; a chart has at most ${MOST_BROKERS}.`
        + " Choose some.");
    }
    const { x, width, marks } = this.scale(arrows, begin, end, axis);
    const y = new Map(taking.map((broker, n) => [broker, TOP + ROW * (n + 0.5)]));
    const height = TOP + ROW * taking.length + FOOT;
    this.place.innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}"`
      + ` height="${height}" viewBox="0 0 ${width} ${height}" font-size="12"`
      + ` font-family="system-ui, 'DejaVu Sans', sans-serif">`
      + `<rect width="${width}" height="${height}" fill="var(--paper)"/>`
      + marks.map(([at, text]) => `<path d="M${at.toFixed(1)} ${TOP - 8}V${height - FOOT}"`
        + ` stroke="var(--grid)"/><text x="${at.toFixed(1)}" y="${TOP - 14}" font-size="11"`
        + ` text-anchor="middle" fill="var(--muted)">${text}</text>`).join("")
      + taking.map((broker) => `<text x="${LEFT - 12}" y="${y.get(broker) + 4}" fill="var(--ink)"`
        + ` text-anchor="end">broker ${broker}</text><path d="M${LEFT} ${y.get(broker)}`
        + `H${width - RIGHT}" stroke="var(--ink)" stroke-opacity="0.45"/>`).join("")
      + `<clipPath id="window"><rect x="${LEFT}" width="${width - LEFT - RIGHT}"`
      + ` height="${height}"/></clipPath><g clip-path="url(#window)">`
      + arrows.map((i) => this.arrow(i, x, y)).join("") + "</g>"
      + (arrows.length <= MOST_LABELS ? arrows.map((i) => this.label(i, x, y)).join("") : "")
      + this.legend(arrows, height - 16) + "</svg>";
    for (const each of this.place.querySelectorAll(".arrow")) {
      each.addEventListener("click", () => {
        this.choose({ message: Number(each.dataset.message) });
        this.mark(Number(each.dataset.message));
      });
    }
    return arrows.length;
  }

  mark(message) {
    for (const each of this.place.querySelectorAll(".arrow")) {
      each.classList.toggle("chosen", Number(each.dataset.message) === message);
    }
  }

  // Where a time stands, how wide the chart is, and the marks on its ruler.
  scale(arrows, begin, end, axis) {
    const least = Math.max(700, this.place.clientWidth - 20), inner = least - LEFT - RIGHT;
    if (axis === "linear") {
      const x = (time) => LEFT + ((time - begin) / (end - begin)) * inner;
      return { x, width: least, marks: ticksOf(begin, end, 8).map(([t, text]) => [x(t), text]) };
    }
    const { departed, ended } = this.run.c;
    const times = arrows.flatMap((i) => [departed[i], ended[i]]);
    const inside = [...new Set(times)].filter((t) => t > begin && t < end).sort((a, b) => a - b);
    const moments = [begin, ...inside, end];
    const wanted = LEFT + RIGHT + Math.max(inner / moments.length, STEP) * (moments.length - 1);
    const width = Math.round(Math.min(wanted, WIDEST));
    const step = (width - LEFT - RIGHT) / (moments.length - 1);
    const x = (time) => {
      const below = Math.min(Math.max(upTo(moments, time) - 1, 0), moments.length - 2);
      return LEFT + step * (below + (time - moments[below]) / (moments[below + 1] - moments[below]));
    };
    const every = Math.ceil(110 / step);
    const marks = moments.map((t, n) => [LEFT + step * n, timeText(t, 1e3)]);
    return { x, width, marks: marks.filter((_, n) => n % every === 0) };
  }

  // An arrow from its tail to its head; one that was lost ends halfway.
  ends(i, x, y) {
    const { departed, ended, source, target, fate } = this.run.c;
    const y1 = y.get(source[i]), y2 = y.get(target[i]);
    return [x(departed[i]), y1, x(ended[i]), fate[i] === LOST ? (y1 + y2) / 2 : y2];
  }

  arrow(i, x, y) {
    const [x1, y1, x2, y2] = this.ends(i, x, y), { run } = this, lost = run.c.fate[i] === LOST;
    const color = `var(--type-${run.c.type[i] % COLORS})`;
    const length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const ux = (x2 - x1) / length, uy = (y2 - y1) / length;
    const points = [[x2, y2], [x2 - 8 * ux - 3 * uy, y2 - 8 * uy + 3 * ux],
      [x2 - 8 * ux + 3 * uy, y2 - 8 * uy - 3 * ux]];
    const tip = lost ? `<path d="M${x2 - 4} ${y2 - 4}l8 8m0 -8l-8 8" fill="none"/>`
      : `<polygon stroke="none" points="${points.map((p) => p.map((v) => v.toFixed(1))).join(" ")}"/>`;
    const title = `${run.typeName(i)} ${run.id(i)}, broker ${run.c.source[i]} to `
      + `${run.c.target[i]}, ${seconds(run.c.departed[i])} to ${seconds(run.c.ended[i])}`;
    return `<g class="arrow" data-message="${i}" stroke="${color}" fill="${color}">`
      + `<title>${escaped(title)}</title><path d="M${x1.toFixed(1)} ${y1}L${x2.toFixed(1)} ${y2}"`
      + ` stroke="transparent" stroke-width="8"/><path d="M${x1.toFixed(1)} ${y1}`
      + `L${x2.toFixed(1)} ${y2}" stroke-width="1.4"${lost ? ' stroke-dasharray="4 3"' : ""}/>`
      + `${tip}</g>`;
  }

  label(i, x, y) {
    const [x1, y1, x2, y2] = this.ends(i, x, y), at = (x1 + x2) / 2 + 4;
    if (at < LEFT) return "";
    return `<text x="${at.toFixed(1)}" y="${((y1 + y2) / 2 + 3).toFixed(1)}" font-size="10"`
      + ` fill="var(--ink)" stroke="var(--paper)" stroke-width="3" paint-order="stroke"`
      + ` pointer-events="none">${escaped(this.run.typeName(i))} ${this.run.id(i)}</text>`;
  }

  legend(arrows, y) {
    const { run } = this;
    let at = LEFT, text = "";
    run.types.forEach(({ name }, kind) => {
      const count = arrows.filter((i) => run.c.type[i] === kind).length;
      if (!count) return;
      text += `<path d="M${at} ${y - 4}h22" stroke="var(--type-${kind % COLORS})" stroke-width="2.5"/>`
        + `<text x="${at + 28}" y="${y}" fill="var(--ink)">${escaped(name)} (${count})</text>`;
      at += 28 + 7 * name.length + 60;
    });
    return text;
  }

  // The chart as a file of its own, with the colours that it has now.
  file() {
    const colors = readColors();
    const known = { ...colors, ...Object.fromEntries(colors.types.map((c, n) => [`type-${n}`, c])) };
    return this.place.innerHTML.replace(/var\(--([a-z0-9-]+)\)/g, (_, name) => known[name]);
  }
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}
