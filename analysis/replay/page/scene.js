// The overlay on a canvas: brokers, links, messages under way. It knows no page around it.

const COLORS = 8;
const FORMS = ["disc", "square", "triangle", "diamond"];
const formOf = (type) => FORMS[(type + Math.floor(type / COLORS)) % FORMS.length];
const STRETCH = 1.7; // how much wider than high, or the other way, a drawing may become to fit
const GLOW = 1.5; // seconds on the viewer's clock for which a change of the overlay is seen

function trace(context, form, x, y, r) {
  if (form === "disc") {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
  } else if (form === "square") {
    context.rect(x - 0.88 * r, y - 0.88 * r, 1.76 * r, 1.76 * r);
  } else {
    const points = form === "triangle" ? [[0, -1.2], [1.1, 0.8], [-1.1, 0.8]]
      : [[0, -1.25], [1.25, 0], [0, 1.25], [-1.25, 0]];
    points.forEach(([dx, dy], n) =>
      n ? context.lineTo(x + dx * r, y + dy * r) : context.moveTo(x + dx * r, y + dy * r));
    context.closePath();
  }
}

function readColors() {
  const style = getComputedStyle(document.documentElement);
  const get = (name) => style.getPropertyValue(`--${name}`).trim();
  const colors = { types: Array.from({ length: COLORS }, (_, n) => get(`type-${n}`)) };
  for (const name of ["ink", "muted", "grid", "paper", "own", "vermillion", "green"]) {
    colors[name] = get(name);
  }
  return colors;
}

function fitCanvas(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const { width, height } = canvas.getBoundingClientRect();
  canvas.width = Math.max(1, Math.round(width * ratio));
  canvas.height = Math.max(1, Math.round(height * ratio));
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  return { context, width, height };
}

class Scene {
  constructor(canvas, run) {
    this.canvas = canvas;
    this.run = run;
    this.zoom = 1;
    this.shift = [0, 0];
    const most = run.samples && run.samples.includes("queue")
      ? run.c[`sample.${run.samples.indexOf("queue")}`].reduce((a, b) => (b > a ? b : a), 0) : 0;
    this.longestQueue = most;
    this.resize();
  }

  resize() {
    Object.assign(this, fitCanvas(this.canvas));
    this.colors = readColors();
    this.place();
  }

  // Where brokers stand: as large as fits, with room for labels; the view may be zoomed and moved.
  place() {
    const { places } = this.run.c, n = this.run.about.brokers;
    let wide = 0, high = 0;
    for (let i = 0; i < n; i++) {
      wide = Math.max(wide, places[2 * i]);
      high = Math.max(high, places[2 * i + 1]);
    }
    const margin = 46;
    const most = [(this.width - 2 * margin) / (wide || 1), (this.height - 2 * margin) / (high || 1)];
    const scales = most.map((scale) => Math.min(scale, STRETCH * Math.min(...most)));
    const left = (this.width - wide * scales[0]) / 2, top = (this.height - high * scales[1]) / 2;
    this.x = new Float64Array(n);
    this.y = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      this.x[i] = (left + places[2 * i] * scales[0] - this.width / 2) * this.zoom
        + this.width / 2 + this.shift[0];
      this.y[i] = (top + places[2 * i + 1] * scales[1] - this.height / 2) * this.zoom
        + this.height / 2 + this.shift[1];
    }
    const room = Math.sqrt(this.width * this.height / Math.max(n, 1)) * this.zoom;
    this.r = Math.max(3, Math.min(17, room / 8));
    this.bows = new Map();
  }

  // How far a link keeps off the straight line: it does if that leads through a third broker.
  bow(a, b) {
    if (a > b) return -this.bow(b, a);
    const key = a * this.run.about.brokers + b;
    let bow = this.bows.get(key);
    if (bow === undefined) {
      bow = this.isBlocked(a, b) ? 3 * this.r : 0;
      this.bows.set(key, bow);
    }
    return bow;
  }

  isBlocked(a, b) {
    const { x, y } = this, dx = x[b] - x[a], dy = y[b] - y[a], square = dx * dx + dy * dy || 1;
    for (let i = 0; i < x.length; i++) {
      if (i === a || i === b) continue;
      const p = ((x[i] - x[a]) * dx + (y[i] - y[a]) * dy) / square;
      if (p <= 0 || p >= 1) continue;
      if (Math.hypot(x[a] + p * dx - x[i], y[a] + p * dy - y[i]) < this.r) return true;
    }
    return false;
  }

  traceLink(a, b) {
    const { context, x, y } = this, bow = this.bow(a, b);
    context.moveTo(x[a], y[a]);
    if (!bow) {
      context.lineTo(x[b], y[b]);
      return;
    }
    const dx = x[b] - x[a], dy = y[b] - y[a], length = Math.hypot(dx, dy) || 1;
    context.quadraticCurveTo((x[a] + x[b]) / 2 - (2 * bow * dy) / length,
      (y[a] + y[b]) / 2 + (2 * bow * dx) / length, x[b], y[b]);
  }

  zoomAt(x, y, factor) {
    const zoom = Math.min(20, Math.max(0.5, this.zoom * factor)), real = zoom / this.zoom;
    this.shift = [
      (x - this.width / 2) * (1 - real) + this.shift[0] * real,
      (y - this.height / 2) * (1 - real) + this.shift[1] * real,
    ];
    this.zoom = zoom;
    this.place();
  }

  moveBy(dx, dy) {
    this.shift = [this.shift[0] + dx, this.shift[1] + dy];
    this.place();
  }

  reset() {
    this.zoom = 1;
    this.shift = [0, 0];
    this.place();
  }

  // Where message `i` is at a time. Both ways of a link are kept apart; what does not go over a
  // link goes in a bow; what is lost stops halfway.
  position(i, time) {
    const { departed, ended, source, target, channel, fate } = this.run.c;
    const whole = ended[i] - departed[i];
    let p = whole > 0 ? Math.min(1, Math.max(0, (time - departed[i]) / whole)) : 1;
    if (fate[i] === LOST) p /= 2;
    const x1 = this.x[source[i]], y1 = this.y[source[i]];
    const dx = this.x[target[i]] - x1, dy = this.y[target[i]] - y1;
    const length = Math.hypot(dx, dy) || 1;
    const most = channel[i] === 0 ? this.bow(source[i], target[i]) : 0.15 * length;
    const bow = 4 + 4 * most * p * (1 - p);
    return [x1 + dx * p - (dy / length) * bow, y1 + dy * p + (dx / length) * bow];
  }

  draw(time, previous, speed, selection) {
    const { context, colors } = this;
    context.fillStyle = colors.paper;
    context.fillRect(0, 0, this.width, this.height);
    this.drawLinks(time, GLOW * speed);
    this.drawSelectedWay(selection);
    const drawn = this.drawMessages(time, previous);
    this.drawBrokers(time, speed, selection);
    this.drawSelectedMessage(time, selection);
    return drawn;
  }

  drawLinks(time, glow) {
    const { context, colors } = this;
    const kinds = [[], [], []];
    for (const link of this.run.links) {
      if (link.since <= time && time < link.until) {
        kinds[link.since > 0 && time - link.since < glow ? 1 : 0].push(link);
      } else if (link.until <= time && time - link.until < glow) {
        kinds[2].push(link);
      }
    }
    this.strokeLinks(kinds[0], colors.muted, 1.3, [], 0.75);
    this.strokeLinks(kinds[1], colors.green, 4, [], 1);
    this.strokeLinks(kinds[2], colors.vermillion, 2.5, [3, 5], 1);
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  strokeLinks(links, color, width, dashes, alpha) {
    const { context } = this;
    context.strokeStyle = color;
    context.lineWidth = width;
    context.globalAlpha = alpha;
    context.setLineDash(dashes);
    context.beginPath();
    for (const { a, b } of links) this.traceLink(a, b);
    context.stroke();
  }

  // What is under way, a path for each type; what came and went since the last frame as a line.
  drawMessages(time, previous) {
    const { context, colors, run } = this, { ended, type, source, target, fate } = run.c;
    const here = run.types.map(() => []), gone = run.types.map(() => []), crosses = [];
    const linger = Math.min(previous, time);
    run.underWay(linger, time, (i) => {
      if (fate[i] === LOST && ended[i] <= time) crosses.push(i);
      else (ended[i] < time ? gone : here)[type[i]].push(i);
    });
    const size = Math.max(4.2, Math.min(6, this.r * 0.42));
    let drawn = 0;
    gone.forEach((some, kind) => {
      if (!some.length) return;
      context.strokeStyle = colors.types[kind % COLORS];
      context.globalAlpha = 0.5;
      context.lineWidth = 2.5;
      context.beginPath();
      for (const i of some) this.traceLink(source[i], target[i]);
      context.stroke();
      drawn += some.length;
    });
    context.globalAlpha = 1;
    here.forEach((some, kind) => {
      if (!some.length) return;
      context.fillStyle = colors.types[kind % COLORS];
      context.strokeStyle = colors.paper;
      context.lineWidth = 1;
      context.beginPath();
      for (const i of some) trace(context, formOf(kind), ...this.position(i, time), size);
      context.fill();
      context.stroke();
      drawn += some.length;
    });
    this.drawCrosses(crosses, time);
    return drawn;
  }

  drawCrosses(lost, time) {
    const { context, colors } = this;
    context.strokeStyle = colors.vermillion;
    context.lineWidth = 2.5;
    context.beginPath();
    for (const i of lost) {
      const [x, y] = this.position(i, time);
      context.moveTo(x - 5, y - 5);
      context.lineTo(x + 5, y + 5);
      context.moveTo(x + 5, y - 5);
      context.lineTo(x - 5, y + 5);
    }
    context.stroke();
  }

  drawBrokers(time, speed, selection) {
    const { context, colors, run, r } = this, n = run.about.brokers;
    const wanting = run.subscribed(time);
    this.drawDeliveries(time, speed);
    context.font = `${Math.round(r * 0.95)}px system-ui, "DejaVu Sans", sans-serif`;
    context.textAlign = "center";
    context.textBaseline = "middle";
    for (let i = 0; i < n; i++) {
      const down = run.isDown(i, time);
      context.beginPath();
      context.arc(this.x[i], this.y[i], r, 0, 2 * Math.PI);
      context.fillStyle = down ? colors.own : wanting[i] ? colors.ink : colors.paper;
      context.strokeStyle = down ? colors.vermillion : colors.ink;
      context.lineWidth = selection.broker === i ? 4 : 1.4;
      context.setLineDash(down ? [3, 3] : []);
      context.fill();
      context.stroke();
      if (r >= 7) {
        context.fillStyle = down ? colors.vermillion : wanting[i] ? colors.paper : colors.ink;
        context.fillText(String(i), this.x[i], this.y[i] + 0.5);
      }
    }
    context.setLineDash([]);
    if (this.longestQueue > 0) for (let i = 0; i < n; i++) this.drawQueue(i, time);
  }

  drawQueue(broker, time) {
    const length = this.run.sample("queue", broker, time);
    if (!length) return;
    const { context, colors, r } = this, x = this.x[broker] + r + 3, high = 2.2 * r;
    const part = high * Math.min(1, length / this.longestQueue), y = this.y[broker] + r;
    context.fillStyle = colors.grid;
    context.fillRect(x, y - high, 5, high);
    context.fillStyle = colors.muted;
    context.fillRect(x, y - part, 5, Math.max(1.5, part));
    if (r >= 7) {
      context.fillStyle = colors.ink;
      context.textAlign = "left";
      context.fillText(String(length), x + 8, y - Math.max(part, 5));
      context.textAlign = "center";
    }
  }

  // Rings that spread from a broker at which a client got an event.
  drawDeliveries(time, speed) {
    const { context, colors, run } = this;
    const times = run.c["delivery.delivered"], of = run.c["delivery.broker"];
    const spread = 0.5 * speed, first = upTo(times, time - spread), last = upTo(times, time);
    context.strokeStyle = colors.green;
    context.lineWidth = 1.5;
    const seen = new Set();
    for (let i = last - 1; i >= Math.max(first, last - 500); i--) {
      if (seen.has(of[i])) continue;
      seen.add(of[i]);
      const age = (time - times[i]) / spread;
      context.globalAlpha = 1 - age;
      context.beginPath();
      context.arc(this.x[of[i]], this.y[of[i]], this.r * (1.2 + age), 0, 2 * Math.PI);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  drawSelectedWay(selection) {
    if (!selection.journey) return;
    const { source, target } = this.run.c;
    const ways = selection.journey.map((i) => ({ a: source[i], b: target[i] }));
    this.strokeLinks(ways, this.colors.types[this.run.c.type[selection.message] % COLORS], 6, [], 0.3);
    this.context.globalAlpha = 1;
  }

  drawSelectedMessage(time, selection) {
    const i = selection.message, { departed, ended } = this.run.c;
    if (i === undefined || time < departed[i] || time > ended[i]) return;
    const { context, colors } = this;
    context.strokeStyle = colors.ink;
    context.lineWidth = 2;
    context.beginPath();
    context.arc(...this.position(i, time), 10, 0, 2 * Math.PI);
    context.stroke();
  }

  // What is at a point: a message under way before a broker, since brokers are larger.
  at(x, y, time) {
    let best = 11, found = {};
    this.run.underWay(time, time, (i) => {
      const [mx, my] = this.position(i, time), distance = Math.hypot(mx - x, my - y);
      if (distance < best) { best = distance; found = { message: i }; }
    });
    if (found.message !== undefined) return found;
    best = this.r + 5;
    for (let i = 0; i < this.run.about.brokers; i++) {
      const distance = Math.hypot(this.x[i] - x, this.y[i] - y);
      if (distance < best) { best = distance; found = { broker: i }; }
    }
    return found;
  }
}
