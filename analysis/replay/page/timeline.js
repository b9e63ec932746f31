// The whole run below the scene: how many messages leave when, by type, and what changes.

const BINS = 400;

class Timeline {
  constructor(canvas, run, seek) {
    this.canvas = canvas;
    this.run = run;
    const { begin, end } = run.about, { departed, type } = run.c;
    this.counts = new Uint32Array(BINS * run.types.length);
    for (let i = 0; i < run.count; i++) {
      const bin = Math.floor(((departed[i] - begin) / (end - begin)) * BINS);
      if (bin >= 0) this.counts[Math.min(bin, BINS - 1) * run.types.length + type[i]]++;
    }
    const move = (event) => {
      const box = canvas.getBoundingClientRect();
      const part = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
      seek(begin + part * (end - begin));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      move(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) move(event); });
    this.resize();
  }

  resize() {
    Object.assign(this, fitCanvas(this.canvas));
    this.colors = readColors();
    this.paint();
  }

  // All but the mark of the present time, which alone moves, once for each change of the view.
  paint() {
    const { run, width, height, colors } = this, types = run.types.length;
    const ratio = window.devicePixelRatio || 1;
    this.picture = document.createElement("canvas");
    this.picture.width = this.canvas.width;
    this.picture.height = this.canvas.height;
    const context = this.picture.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = colors.own;
    context.fillRect(0, 0, width, height - 14);
    let most = 1;
    const shown = (bin, kind) => (run.visible[kind] ? this.counts[bin * types + kind] : 0);
    for (let bin = 0; bin < BINS; bin++) {
      let sum = 0;
      for (let kind = 0; kind < types; kind++) sum += shown(bin, kind);
      most = Math.max(most, sum);
    }
    // The square root of the number: a burst leaves the rest to be seen.
    const high = (count) => Math.sqrt(count / most) * (height - 20);
    for (let bin = 0; bin < BINS; bin++) {
      let sum = 0;
      for (let kind = 0; kind < types; kind++) {
        const count = shown(bin, kind);
        if (!count) continue;
        const top = high(sum + count), bottom = high(sum);
        context.fillStyle = colors.types[kind % COLORS];
        context.fillRect((bin * width) / BINS, height - 14 - top,
          Math.max(1.5, width / BINS - 0.4), Math.max(1, top - bottom));
        sum += count;
      }
    }
    this.paintChanges(context);
    this.paintTicks(context);
  }

  paintChanges(context) {
    const { begin, end } = this.run.about;
    for (const [time, kind] of this.run.changes) {
      if (time < begin || time > end) continue;
      const bad = kind === "break" || kind === "crash" || kind === "loss";
      const x = ((time - begin) / (end - begin)) * this.width;
      context.fillStyle = bad ? this.colors.vermillion : this.colors.green;
      context.fillRect(x - 0.75, 0, 1.5, this.height - 14);
      context.beginPath();
      if (bad) { context.moveTo(x - 4, 0); context.lineTo(x + 4, 0); context.lineTo(x, 6); }
      else { context.moveTo(x - 4, 6); context.lineTo(x + 4, 6); context.lineTo(x, 0); }
      context.fill();
    }
  }

  paintTicks(context) {
    const { begin, end } = this.run.about;
    context.fillStyle = this.colors.muted;
    context.font = "11px system-ui, 'DejaVu Sans', sans-serif";
    context.textBaseline = "bottom";
    for (const [time, text] of ticksOf(begin, end, Math.max(2, Math.floor(this.width / 110)))) {
      const x = ((time - begin) / (end - begin)) * this.width;
      context.textAlign = x < 30 ? "left" : x > this.width - 30 ? "right" : "center";
      context.fillText(text, x, this.height);
    }
  }

  draw(time) {
    const { context, colors, width, height } = this, { begin, end } = this.run.about;
    context.clearRect(0, 0, width, height);
    context.drawImage(this.picture, 0, 0, width, height);
    const x = ((time - begin) / (end - begin)) * width;
    context.fillStyle = colors.ink;
    context.fillRect(Math.min(width - 2, Math.max(0, x - 1)), 0, 2, height - 14);
    context.beginPath();
    context.arc(Math.min(width - 5, Math.max(5, x)), 6, 5, 0, 2 * Math.PI);
    context.fill();
  }
}

// Round times in a window, at most about `most` of them, with what a ruler says there.
function ticksOf(begin, end, most) {
  const rough = Math.max(1, (end - begin) / most);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const found = [];
  for (let n = Math.ceil(begin / step); n * step <= end; n++) {
    found.push([n * step, timeText(n * step, step)]);
  }
  return found;
}

// A time in seconds, to the digit that tells times of that distance apart.
function timeText(time, step) {
  return seconds(time, Math.min(9, Math.max(0, 9 - Math.floor(Math.log10(Math.max(step, 1))))));
}
