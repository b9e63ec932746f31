// The clock of the page, and all that can be pressed.

const by = (id) => document.getElementById(id);
const SPEEDS = [];
for (let power = 2; power <= 11; power++) for (const n of [1, 2, 5]) SPEEDS.push(n * 10 ** power);
const INSPECT_EVERY = 200; // milliseconds
const WHOLE_RUN = 120; // seconds that playing a whole run takes at most, to begin with
const HOP = 0.8; // seconds that a usual hop takes, if the run is not too long for it

class Player {
  constructor(run) {
    this.run = run;
    this.time = run.about.begin;
    this.previous = this.time;
    this.playing = false;
    this.selection = {};
    this.frames = []; // of the last frames while playing: [interval, time to draw, messages drawn]
    this.inspected = -Infinity;
    this.scene = new Scene(by("scene"), run);
    this.timeline = new Timeline(by("timeline"), run, (time) => this.seek(time));
    this.inspector = new Inspector(by("inspector"), run, (choice) => this.choose(choice));
    this.chart = new Chart(by("chart"), run, (choice) => this.choose(choice));
    this.setSpeed(this.usualSpeed());
    this.describe();
    this.drawLegend();
    this.listen();
    this.seek(this.time);
    requestAnimationFrame((now) => this.tick(now));
  }

  // A speed at which hops can be followed, or at which the run's busy time does not take too long.
  usualSpeed() {
    const { departed, ended, fate } = this.run.c, flights = [];
    let busy = 0, until = -Infinity;
    const each = Math.max(1, Math.floor(this.run.count / 5000));
    for (let i = 0; i < this.run.count; i++) {
      if (i % each === 0 && fate[i] === ARRIVED) flights.push(ended[i] - departed[i]);
      busy += Math.max(0, ended[i] - Math.max(departed[i], until));
      until = Math.max(until, ended[i]);
    }
    flights.sort((a, b) => a - b);
    this.hop = flights[flights.length >> 1] || 1e7;
    const wanted = Math.max(this.hop / HOP, busy / WHOLE_RUN);
    return SPEEDS.find((speed) => speed >= wanted) ?? SPEEDS.at(-1);
  }

  setSpeed(speed) {
    this.speed = speed;
    by("speed").textContent = `${duration(speed)} a second`;
    this.dirty = true;
  }

  changeSpeed(steps) {
    const place = SPEEDS.findIndex((speed) => speed >= this.speed);
    this.setSpeed(SPEEDS[Math.min(SPEEDS.length - 1, Math.max(0, place + steps))]);
  }

  seek(time) {
    const { begin, end } = this.run.about;
    this.time = Math.min(end, Math.max(begin, time));
    this.previous = this.time;
    this.dirty = true;
    this.inspected = -Infinity;
  }

  play() {
    if (this.time >= this.run.about.end) this.seek(this.run.about.begin);
    this.playing = true;
    this.frames = [];
    this.last = undefined;
    by("play").textContent = "❚❚ pause";
  }

  pause() {
    this.playing = false;
    this.previous = this.time;
    by("play").textContent = "▶ play";
    this.dirty = true;
    this.inspected = -Infinity;
  }

  toggle() { if (this.playing) this.pause(); else this.play(); }

  step(direction) {
    this.pause();
    const moment = direction > 0 ? this.run.nextMoment(this.time)
      : this.run.previousMoment(this.time);
    if (Number.isFinite(moment)) this.seek(moment);
  }

  choose(choice) {
    if (choice.time !== undefined) {
      this.pause();
      this.seek(choice.time);
      return;
    }
    this.selection = choice;
    if (choice.message !== undefined) {
      const { departed, ended } = this.run.c, i = choice.message;
      this.selection = { ...choice, journey: this.run.journey(i) };
      if (this.time < departed[i] || this.time > ended[i]) {
        this.pause();
        this.seek(departed[i] + 0.4 * (ended[i] - departed[i]));
      }
    }
    this.inspector.shown = undefined;
    this.inspected = -Infinity;
    this.dirty = true;
  }

  setVisible(kind, on) {
    this.run.visible[kind] = on ? 1 : 0;
    by(`type-${kind}`).checked = on;
    this.timeline.paint();
    this.dirty = true;
    if (!by("chart-view").hidden) this.drawChart();
  }

  // Frames ------------------------------------------------------------------------------------

  tick(now) {
    requestAnimationFrame((next) => this.tick(next));
    const passed = this.last === undefined ? 0 : now - this.last;
    this.last = now;
    if (this.playing) this.advance(passed);
    if (!this.playing && !this.dirty) return;
    this.dirty = false;
    const begin = performance.now();
    const drawn = by("network-view").hidden ? 0
      : this.scene.draw(this.time, this.previous, this.speed, this.selection);
    this.timeline.draw(this.time);
    this.tellTime(drawn);
    if (now - this.inspected >= INSPECT_EVERY) {
      this.inspector.show(this.selection, this.time);
      this.inspected = now;
    }
    if (this.playing && passed) {
      this.frames.push([passed, performance.now() - begin, drawn]);
      if (this.frames.length > 2000) this.frames.shift();
    }
  }

  advance(passed) {
    const { end } = this.run.about;
    this.previous = this.time;
    this.time += Math.min(passed, 100) * (this.speed / 1000);
    if (by("skip").checked && this.run.countUnderWay(this.time) === 0) this.skipQuiet();
    if (this.time >= end) {
      this.time = end;
      this.pause();
    }
  }

  // Nothing is under way: go to shortly before something happens, unless a change is still seen.
  skipQuiet() {
    const k = upTo(this.run.changeTimes, this.time) - 1;
    if (k >= 0 && this.time - this.run.changeTimes[k] < GLOW * this.speed) return;
    if (this.run.countUnderWay(this.previous)) return;
    const next = Math.min(this.run.nextMoment(this.time), this.run.about.end);
    const early = next - 0.3 * this.speed;
    if (early > this.time) this.time = this.previous = early;
  }

  tellTime(drawn) {
    const { run, time } = this;
    if (document.activeElement !== by("time")) by("time").value = seconds(time);
    const count = run.countUnderWay(time);
    by("now").textContent = `${count.toLocaleString("en")} under way`;
    by("timeline").setAttribute("aria-valuenow", String(time / 1e9));
    by("timeline").setAttribute("aria-valuetext", seconds(time));
    const k = upTo(run.changeTimes, time) - 1;
    const recent = k >= 0 && time - run.changeTimes[k] < GLOW * this.speed;
    const texts = [];
    for (let n = k; recent && n >= 0 && run.changeTimes[n] === run.changeTimes[k]; n--) {
      texts.unshift(run.changes[n][2]);
    }
    by("event").textContent = texts.slice(0, 4).join(", ");
  }

  // The page ----------------------------------------------------------------------------------

  describe() {
    const { about, count } = this.run;
    by("name").textContent = about.name;
    by("facts").textContent = `${about.protocol} on ${about.backend}, ${about.brokers} brokers, `
      + `${seconds(about.begin, 3).replace(/\.?0+ s/, "")} to ${seconds(about.end, 3)
        .replace(/\.?0+ s/, " s")}, ${count.toLocaleString("en")} `
      + (about.source === "deliveries" ? "deliveries" : "messages");
    by("notes").replaceChildren(...about.notes.map((note) => make("p", {}, note)), make("p", {},
      "Filled brokers have subscribers; a green ring is a delivery; a red cross a lost message;"
      + " a green link is new, a dashed red one broken."));
  }

  drawLegend() {
    const { run } = this, counts = new Uint32Array(run.types.length);
    for (const kind of run.c.type) counts[kind]++;
    const rows = run.types.map(({ name }, kind) => {
      const box = make("input", { type: "checkbox", id: `type-${kind}` });
      box.checked = true;
      box.addEventListener("change", () => this.setVisible(kind, box.checked));
      const mark = make("canvas", { width: 32, height: 32, style: "width:16px;height:16px" });
      mark.dataset.kind = kind;
      return make("label", {}, box, mark, name,
        make("span", { class: "count" }, counts[kind].toLocaleString("en")));
    });
    const all = (on) => () => run.types.forEach((_, kind) => this.setVisible(kind, on));
    by("legend").replaceChildren(make("h2", {}, "Messages"), ...rows,
      make("div", { class: "both" }, make("button", { id: "all", onclick: all(true) }, "all"),
        make("button", { id: "none", onclick: all(false) }, "none")));
    this.paintMarks();
  }

  paintMarks() {
    for (const mark of by("legend").querySelectorAll("canvas")) {
      const context = mark.getContext("2d"), kind = Number(mark.dataset.kind);
      context.clearRect(0, 0, 32, 32);
      context.fillStyle = this.scene.colors.types[kind % COLORS];
      context.beginPath();
      trace(context, formOf(kind), 16, 16, 11);
      context.fill();
    }
  }

  repaint() {
    this.scene.resize();
    this.timeline.resize();
    this.paintMarks();
    this.dirty = true;
  }

  changeTheme() {
    const root = document.documentElement.classList;
    const dark = root.contains("dark")
      || (!root.contains("light") && matchMedia("(prefers-color-scheme: dark)").matches);
    root.toggle("dark", !dark);
    root.toggle("light", dark);
    this.repaint();
  }

  showChart(on) {
    by("chart-view").hidden = !on;
    by("network-view").hidden = on;
    by("show-chart").setAttribute("aria-pressed", String(on));
    by("show-network").setAttribute("aria-pressed", String(!on));
    if (on && !by("chart-from").value) this.chartHere();
    else if (on) this.drawChart();
    this.repaint();
  }

  // A window of what is under way, or comes next, and what follows without a pause: some forty
  // messages at most.
  chartHere() {
    const { departed, ended } = this.run.c, { about } = this.run;
    let first = this.run.count;
    this.run.underWay(this.time, this.time, (i) => { first = Math.min(first, i); });
    first = Math.min(first, before(departed, this.time), this.run.count - 1);
    let last = first, until = ended[first] ?? about.end;
    const begin = departed[first] ?? about.begin;
    while (last + 1 < this.run.count && last - first < 39
      && departed[last + 1] - until < 3 * this.hop) {
      last++;
      until = Math.max(until, ended[last]);
    }
    const room = (until - begin) / 25;
    by("chart-from").value = seconds(Math.max(about.begin, begin - room));
    by("chart-to").value = seconds(until + room);
    this.drawChart();
  }

  drawChart() {
    by("chart-problem").textContent = "";
    try {
      const begin = parseTime(by("chart-from").value), end = parseTime(by("chart-to").value);
      if (Number.isNaN(begin) || Number.isNaN(end)) throw new Error("Times are such as 1.5 s or 20 ms.");
      const brokers = parseBrokers(by("chart-brokers").value, this.run.about.brokers);
      this.chart.draw(begin, end, brokers, by("chart-axis").value);
      if (this.selection.message !== undefined) this.chart.mark(this.selection.message);
    } catch (problem) {
      by("chart").replaceChildren();
      by("chart-problem").textContent = problem.message;
    }
  }

  saveChart() {
    const file = new Blob([this.chart.file()], { type: "image/svg+xml" });
    const link = make("a", { href: URL.createObjectURL(file), download: "sequence.svg" });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  listen() {
    const press = (id, act) => by(id).addEventListener("click", act);
    press("play", () => this.toggle());
    press("forward", () => this.step(1));
    press("back", () => this.step(-1));
    press("first", () => this.seek(this.run.about.begin));
    press("slower", () => this.changeSpeed(-1));
    press("faster", () => this.changeSpeed(1));
    press("theme", () => this.changeTheme());
    press("show-network", () => this.showChart(false));
    press("show-chart", () => this.showChart(true));
    press("chart-here", () => this.chartHere());
    press("chart-save", () => this.saveChart());
    by("chart-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.drawChart();
    });
    by("time").addEventListener("change", () => {
      const time = parseTime(by("time").value);
      if (!Number.isNaN(time)) this.seek(time);
      by("time").blur();
      this.dirty = true;
    });
    this.listenToScene();
    document.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.repaint()).observe(by("network-view"));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.repaint());
  }

  listenToScene() {
    const canvas = by("scene");
    let from, moved;
    canvas.addEventListener("pointerdown", (event) => {
      from = [event.clientX, event.clientY];
      moved = false;
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!from) return;
      const dx = event.clientX - from[0], dy = event.clientY - from[1];
      if (!moved && Math.hypot(dx, dy) < 5) return;
      moved = true;
      from = [event.clientX, event.clientY];
      this.scene.moveBy(dx, dy);
      this.dirty = true;
    });
    canvas.addEventListener("pointerup", (event) => {
      from = undefined;
      if (moved) return;
      const box = canvas.getBoundingClientRect();
      const found = this.scene.at(event.clientX - box.left, event.clientY - box.top, this.time);
      if (found.message !== undefined) this.pause();
      this.choose(found);
    });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      this.scene.zoomAt(event.clientX - box.left, event.clientY - box.top,
        Math.exp(-event.deltaY / 500));
      this.dirty = true;
    }, { passive: false });
    canvas.addEventListener("dblclick", () => {
      this.scene.reset();
      this.dirty = true;
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (/^(input|select|textarea)$/i.test(event.target.tagName) && event.target.type !== "checkbox") {
      return;
    }
    const { begin, end } = this.run.about, jump = (end - begin) / 50;
    const acts = {
      " ": () => this.toggle(),
      ArrowRight: () => (event.shiftKey ? this.seek(this.time + jump) : this.step(1)),
      ArrowLeft: () => (event.shiftKey ? this.seek(this.time - jump) : this.step(-1)),
      Home: () => this.seek(begin),
      End: () => this.seek(end),
      "+": () => this.changeSpeed(1),
      "=": () => this.changeSpeed(1),
      "-": () => this.changeSpeed(-1),
      s: () => this.showChart(by("chart-view").hidden),
      d: () => this.changeTheme(),
      Escape: () => this.choose({}),
    };
    const kind = Number(event.key) - 1;
    const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key]
      ?? (this.run.types[kind] ? () => this.setVisible(kind, !this.run.visible[kind]) : undefined);
    if (!act) return;
    event.preventDefault();
    act();
  }
}

unpack(by("data").textContent).then((run) => {
  window.replay = new Player(run);
}).catch((error) => {
  by("facts").textContent = `This page cannot be shown: ${error.message}`;
  console.error(error);
});
