// The run as it was embedded, and questions to it. Times are nanoseconds of simulated time.

const ARRIVED = 0, LOST = 1;
const BLOCK = 256;

async function unpack(text) {
  const letters = atob(text.trim());
  const packed = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i++) packed[i] = letters.charCodeAt(i);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const whole = await new Response(stream).arrayBuffer();
  const size = new DataView(whole).getUint32(0, true);
  const texts = JSON.parse(new TextDecoder().decode(new Uint8Array(whole, 4, size)));
  const begin = Math.ceil((4 + size) / 8) * 8;
  const columns = {};
  for (const [name, [kind, at, length]] of Object.entries(texts.columns)) {
    columns[name] = new globalThis[kind + "Array"](whole, begin + at, length);
  }
  return new Run(texts, columns);
}

// How many of the sorted `times` are at most `time`, and how many are less.
function upTo(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

function before(times, time) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

class Run {
  constructor(texts, columns) {
    Object.assign(this, texts);
    this.c = columns;
    this.count = columns.departed.length;
    this.visible = new Uint8Array(Math.max(1, this.types.length)).fill(1);
    // The latest end in each block of messages: whole blocks are passed over.
    this.latest = new Float64Array(Math.ceil(this.count / BLOCK)).fill(-Infinity);
    for (let i = 0; i < this.count; i++) {
      const block = Math.floor(i / BLOCK);
      if (columns.ended[i] > this.latest[block]) this.latest[block] = columns.ended[i];
    }
    this.byEnd = Uint32Array.from({ length: this.count }, (_, i) => i);
    this.byEnd.sort((i, j) => columns.ended[i] - columns.ended[j]);
    this.ends = Float64Array.from(this.byEnd, (i) => columns.ended[i]);
    this.changeTimes = this.changes.map((change) => change[0]);
    this.links = this.lives();
  }

  lives() {
    const { "link.a": a, "link.b": b, "link.since": since, "link.until": until } = this.c;
    return Array.from(a, (_, i) => ({
      a: a[i], b: b[i], since: since[i],
      until: until[i] >= this.about.duration ? Infinity : until[i],
    }));
  }

  // Calls `visit` with each visible message that was under way at some time from `from` to `to`.
  underWay(from, to, visit) {
    const { departed, ended, type } = this.c;
    const last = upTo(departed, to);
    for (let block = 0; block * BLOCK < last; block++) {
      if (this.latest[block] < from) continue;
      const stop = Math.min(last, (block + 1) * BLOCK);
      for (let i = block * BLOCK; i < stop; i++) {
        if (ended[i] >= from && this.visible[type[i]]) visit(i);
      }
    }
  }

  countUnderWay(time) {
    let count = 0;
    this.underWay(time, time, () => count++);
    return count;
  }

  // The next moment after `time` at which a visible message leaves or ends, or the overlay changes.
  nextMoment(time) {
    const { departed, type } = this.c;
    let i = upTo(departed, time);
    while (i < this.count && !this.visible[type[i]]) i++;
    let j = upTo(this.ends, time);
    while (j < this.count && !this.visible[type[this.byEnd[j]]]) j++;
    const k = upTo(this.changeTimes, time);
    return Math.min(departed[i] ?? Infinity, this.ends[j] ?? Infinity,
      this.changeTimes[k] ?? Infinity);
  }

  previousMoment(time) {
    const { departed, type } = this.c;
    let i = before(departed, time) - 1;
    while (i >= 0 && !this.visible[type[i]]) i--;
    let j = before(this.ends, time) - 1;
    while (j >= 0 && !this.visible[type[this.byEnd[j]]]) j--;
    const k = before(this.changeTimes, time) - 1;
    return Math.max(departed[i] ?? -Infinity, this.ends[j] ?? -Infinity,
      this.changeTimes[k] ?? -Infinity);
  }

  isDown(broker, time) {
    const { "down.broker": brokers, "down.since": since, "down.until": until } = this.c;
    for (let i = 0; i < brokers.length; i++) {
      if (brokers[i] === broker && since[i] <= time && time < until[i]) return true;
    }
    return false;
  }

  neighbors(broker, time) {
    const found = [];
    for (const link of this.links) {
      if (link.since <= time && time < link.until) {
        if (link.a === broker) found.push(link.b);
        if (link.b === broker) found.push(link.a);
      }
    }
    return [...new Set(found)].sort((x, y) => x - y);
  }

  // Rows of a table (subscriptions, tables) that stood at a broker at a time; null: not recorded.
  standing(table, broker, time) {
    const of = this.c[`${table}.broker`];
    if (!of) return null;
    const since = this.c[`${table}.since`], until = this.c[`${table}.until`];
    const found = [];
    for (let i = 0; i < of.length; i++) {
      if (of[i] === broker && since[i] <= time && time < until[i]) found.push(i);
    }
    return found;
  }

  text(column, i) { return this.strings[this.c[column][i]]; }

  // Whether each broker has a subscription at a time.
  subscribed(time) {
    const of = this.c["subscriptions.broker"];
    const since = this.c["subscriptions.since"], until = this.c["subscriptions.until"];
    const found = new Uint8Array(this.about.brokers);
    for (let i = 0; i < of.length; i++) {
      if (since[i] <= time && time < until[i]) found[of[i]] = 1;
    }
    return found;
  }

  // The number of a broker at the last sample up to `time`, undefined if there is none.
  sample(name, broker, time) {
    const place = this.samples ? this.samples.indexOf(name) : -1;
    if (place < 0) return undefined;
    const row = upTo(this.c["sample.times"], time) - 1;
    const value = row < 0 ? NaN : this.c[`sample.${place}`][row * this.about.brokers + broker];
    return Number.isNaN(value) ? undefined : value;
  }

  typeName(i) { return this.types[this.c.type[i]].name; }
  id(i) { return `${this.c.origin[i]}:${this.c.sequence[i]}`; }

  // The bytes of a message, null if they are not known, and the fields of its body.
  bytes(i) {
    const content = this.c.content[i];
    if (!content) return null;
    return this.c.bytes.subarray(this.c.bounds[content - 1], this.c.bounds[content]);
  }

  fields(i) {
    const bytes = this.bytes(i);
    if (!bytes) return [];
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const code = view.getUint8(5), type = this.types[this.c.type[i]];
    const found = [
      { name: "length", text: `${view.getUint32(0)}`, at: 0, size: 4 },
      { name: "version", text: `${view.getUint8(4)}`, at: 4, size: 1 },
      { name: "type", text: `${code} (${type.name})`, at: 5, size: 1 },
      { name: "flags", text: `${view.getUint16(6)}`, at: 6, size: 2 },
      { name: "origin", text: `${view.getUint32(8)}`, at: 8, size: 4 },
      { name: "sequence", text: `${view.getUint32(12)}`, at: 12, size: 4 },
    ];
    const [lead, ...body] = this.bodies[this.c.content[i] - 1];
    let at = 16 + lead;
    const add = (name, text, size) => { found.push({ name, text, at, size }); at += size; };
    if (Array.isArray(body[0])) body.forEach((field) => add(...field));
    else for (let n = 0; n < body.length; n += 2) add(type.fields[n / 2], body[n], body[n + 1]);
    return found;
  }

  // All hops of a message, those with its identity.
  journey(i) {
    const { origin, sequence } = this.c;
    const found = [];
    for (let j = 0; j < this.count; j++) {
      if (origin[j] === origin[i] && sequence[j] === sequence[i]) found.push(j);
    }
    return found;
  }
}

function seconds(time, digits = 9) {
  return `${(time / 1e9).toFixed(digits)} s`;
}

// "1.5 s", "20 ms", "3": nanoseconds, or NaN.
function parseTime(text) {
  const found = /^\s*([0-9.]+(?:e[+-]?\d+)?)\s*(ns|us|µs|ms|s|min)?\s*$/i.exec(text);
  const units = { ns: 1, us: 1e3, "µs": 1e3, ms: 1e6, s: 1e9, min: 6e10 };
  return found ? Number(found[1]) * units[(found[2] || "s").toLowerCase()] : NaN;
}

function duration(time) {
  const [size, unit] = time >= 1e9 ? [1e9, "s"] : time >= 1e6 ? [1e6, "ms"]
    : time >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((time / size).toPrecision(4))} ${unit}`;
}
