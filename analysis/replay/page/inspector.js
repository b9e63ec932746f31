// What is selected, in words: a broker with its table and queue, or a message with its bytes.

const LISTED = 8;
const MOST_ROWS = 400;
const WIDE = 8; // bytes in a row

function make(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

function rowsOf(heads, rows, attributes = {}) {
  const head = heads.length ? [make("tr", {}, ...heads.map((text) => make("th", {}, text)))] : [];
  const body = rows.map((cells) => make("tr", {}, ...cells.map((cell) =>
    cell instanceof Node && cell.tagName === "TD" ? cell : make("td", {}, cell))));
  return make("table", attributes, ...head, ...body);
}

class Inspector {
  constructor(place, run, choose) {
    this.place = place;
    this.run = run;
    this.choose = choose;
  }

  show(selection, time) {
    const scrolled = [...this.place.querySelectorAll(".scroll")].map((each) => each.scrollTop);
    if (selection.message !== undefined) this.showMessage(selection, time);
    else if (selection.broker !== undefined) this.showBroker(selection.broker, time);
    else this.place.replaceChildren(make("p", { class: "quiet" },
      "Click on a broker to see its routing table and queue, on a message to see its bytes."));
    this.place.querySelectorAll(".scroll").forEach((each, n) => {
      each.scrollTop = scrolled[n] || 0;
    });
  }

  broker(number) {
    return make("a", { class: "broker", onclick: () => this.choose({ broker: number }) },
      `broker ${number}`);
  }

  message(i, text) {
    return make("a", { class: "message", onclick: () => this.choose({ message: i }) },
      text || `${this.run.typeName(i)} ${this.run.id(i)}`);
  }

  // Brokers -----------------------------------------------------------------------------------

  showBroker(broker, time) {
    const { run } = this;
    const neighbors = run.neighbors(broker, time);
    const linked = neighbors.length
      ? neighbors.flatMap((n, k) => [k ? ", " : "", this.broker(n)]) : ["nobody"];
    this.place.replaceChildren(
      make("h2", {}, `Broker ${broker}`),
      make("p", {}, ...(run.isDown(broker, time) ? ["It is down."] : ["Linked to ", ...linked, "."])),
      ...this.table(broker, time),
      ...this.queue(broker, time),
      ...this.numbers(broker, time),
      ...this.subscriptions(broker, time),
      ...this.traffic(broker, time),
    );
  }

  table(broker, time) {
    const { run } = this, found = run.standing("tables", broker, time);
    if (found === null) {
      return [make("h3", {}, "Routing table"), make("p", { class: "quiet" },
        'It was not recorded; a run with measure = ["tables"] has it.')];
    }
    const rows = found.slice(0, MOST_ROWS).map((i) => [
      run.text("tables.entry", i),
      make("td", { class: "ways" }, this.leadsTo(run.text("tables.leads_to", i), broker)),
    ]);
    const title = make("h3", {}, `Routing table: ${entries(found.length)}`);
    if (!rows.length) return [title];
    return [title, make("div", { class: "scroll" },
      rowsOf(["entry", "leads to"], rows, { id: "routing-table" })), ...more(found)];
  }

  leadsTo(text, broker) {
    const named = text.split(", ").map((each) => (each === String(broker) ? "clients" : each));
    return named.join(", ");
  }

  queue(broker, time) {
    const { run } = this, title = make("h3", {}, "Queue");
    if (!run.about.service) {
      return [title, make("p", { class: "quiet" },
        "There is none: brokers of this run have no service model.")];
    }
    const whole = run.queues[broker];
    const all = whole ? [make("p", { class: "quiet" },
      `In the whole run: ${whole.served.toLocaleString("en")} served, at most `
      + `${whole.longest.toLocaleString("en")} waiting, busy for ${duration(whole.busy)}.`)] : [];
    const length = run.sample("queue", broker, time);
    if (!run.samples || !run.samples.includes("queue")) {
      return [title, make("p", { class: "quiet" },
        'Its length by time was not recorded; a run with measure = ["brokers"] has it.'), ...all];
    }
    const text = length === undefined ? "not known yet" : `${length} in it, with the one in service`;
    return [title, make("p", { id: "queue-length" }, text), this.spark(broker, time), ...all];
  }

  // The queue over the whole run, and where we are.
  spark(broker, time) {
    const { run } = this, times = run.c["sample.times"], n = run.about.brokers;
    const values = run.c[`sample.${run.samples.indexOf("queue")}`];
    let most = 1;
    for (let row = 0; row < times.length; row++) {
      if (values[row * n + broker] > most) most = values[row * n + broker];
    }
    const { begin, end } = run.about, x = (t) => ((t - begin) / (end - begin)) * 340;
    let path = "";
    for (let row = 0; row < times.length; row++) {
      const value = values[row * n + broker];
      if (Number.isNaN(value)) continue;
      path += `${path ? "L" : "M"}${x(times[row]).toFixed(1)} ${(43 - 40 * value / most).toFixed(1)}`;
    }
    const holder = make("div");
    holder.innerHTML = `<svg class="spark" viewBox="0 0 340 46" preserveAspectRatio="none">`
      + `<path d="${path}" fill="none" stroke="var(--muted)" stroke-width="1.5"/>`
      + `<path d="M${x(time)} 0V46" stroke="var(--ink)"/></svg>`;
    return holder.firstChild;
  }

  numbers(broker, time) {
    const { run } = this;
    const known = (run.samples || []).filter((name) => name !== "queue")
      .map((name) => [name, run.sample(name, broker, time)])
      .filter(([, value]) => value !== undefined);
    if (!known.length) return [];
    const rows = known.map(([name, value]) => [name,
      make("td", { class: "number" }, Number(value.toPrecision(6)).toLocaleString("en"))]);
    return [make("h3", {}, "Counted"), rowsOf([], rows)];
  }

  subscriptions(broker, time) {
    const { run } = this, found = run.standing("subscriptions", broker, time) || [];
    const title = make("h3", {}, `Clients’ subscriptions: ${found.length || "none"}`);
    if (!found.length) return [title];
    const rows = found.slice(0, MOST_ROWS).map((i) => [
      `client ${run.c["subscriptions.client"][i]}`, run.text("subscriptions.filter", i)]);
    return [title, make("div", { class: "scroll" }, rowsOf([], rows)), ...more(found)];
  }

  traffic(broker, time) {
    const { departed, ended, source, target } = this.run.c;
    const coming = [], came = [], sent = [];
    const last = upTo(departed, time);
    for (let i = last - 1; i >= 0; i--) {
      if (target[i] === broker) (ended[i] > time ? coming : came).push(i);
      if (source[i] === broker && sent.length < LISTED) sent.push(i);
      if (came.length >= 4 * LISTED && sent.length >= LISTED && last - i > 20000) break;
    }
    came.sort((i, j) => ended[j] - ended[i]);
    const list = (title, some, when, who, word) => some.length === 0 ? [] : [
      make("h3", {}, title),
      rowsOf([], some.slice(0, LISTED).map((i) => [
        make("td", { class: "nowrap" }, seconds(when[i], 6)), this.message(i),
        make("td", { class: "nowrap" }, `${word} `, this.broker(who[i]))]))];
    return [
      ...list(`On the way here: ${coming.length}`, coming, departed, source, "from"),
      ...list("Came last", came, ended, source, "from"),
      ...list("Sent last", sent, departed, target, "to"),
    ];
  }

  // Messages ----------------------------------------------------------------------------------

  showMessage(selection, time) {
    const { run } = this, i = selection.message;
    if (this.shown === i && this.place.querySelector("#message")) return;
    this.shown = i;
    const { departed, ended, source, target, length, fate, channel } = run.c;
    const ways = ["over their link", "by TCP unicast", "by UDP unicast", "delivered in the end"];
    const ends = ["arrived", "was lost", "was still under way at the end"];
    const facts = [
      ["from", this.broker(source[i])],
      ["to", this.broker(target[i])],
      ["way", ways[channel[i]]],
      ["left", this.moment(departed[i])],
      [fate[i] === ARRIVED ? "arrived" : "ended", this.moment(ended[i])],
      ["took", fate[i] === ARRIVED ? duration(ended[i] - departed[i]) : `it ${ends[fate[i]]}`],
    ];
    if (length[i]) facts.push(["frame", `${length[i].toLocaleString("en")} bytes`]);
    this.place.replaceChildren(
      make("h2", { id: "message" }, `${run.typeName(i)} ${run.id(i)}`),
      rowsOf([], facts),
      ...this.content(i),
      ...this.journey(i, selection.journey),
    );
  }

  moment(time) {
    return make("a", { class: "message", onclick: () => this.choose({ time }) }, seconds(time));
  }

  content(i) {
    const { run } = this, bytes = run.bytes(i);
    if (!bytes) {
      return [make("p", { class: "quiet" }, run.about.source === "deliveries"
        ? "A delivery has no bytes of its own." : "Its bytes are not known.")];
    }
    const hex = make("div", { id: "hex" });
    for (let at = 0; at < bytes.length; at += WIDE) {
      hex.append(make("span", { class: "offset" }, at.toString(16).padStart(4, "0")), "  ");
      const row = bytes.subarray(at, at + WIDE);
      row.forEach((byte, k) => {
        hex.append(make("span", { "data-at": at + k }, byte.toString(16).padStart(2, "0")), " ");
      });
      const letters = Array.from(row, (b) => (b > 32 && b < 127 ? String.fromCharCode(b) : "·"));
      hex.append("   ".repeat(WIDE - row.length), " ", letters.join(""), "\n");
    }
    const cut = run.c.length[i] > bytes.length
      ? [make("p", { class: "quiet" }, `The first ${bytes.length.toLocaleString("en")} bytes.`)] : [];
    const rows = run.fields(i).map((field) => {
      const row = make("tr", { class: "field" }, make("th", {}, field.name),
        make("td", {}, field.text), make("td", { class: "number quiet" },
          field.size === 1 ? `${field.at}` : `${field.at}–${field.at + field.size - 1}`));
      const mark = (on) => () => {
        row.classList.toggle("marked", on);
        for (let k = field.at; k < field.at + field.size; k++) {
          hex.querySelector(`[data-at="${k}"]`)?.classList.toggle("marked", on);
        }
      };
      row.addEventListener("pointerenter", mark(true));
      row.addEventListener("pointerleave", mark(false));
      return row;
    });
    return [make("h3", {}, "Fields, and the bytes they take"),
      make("table", { id: "fields" }, ...rows), make("h3", {}, "Bytes"), hex, ...cut];
  }

  journey(i, hops) {
    if (!hops || hops.length < 2) return [];
    const { departed, source, target } = this.run.c;
    const rows = hops.slice(0, 100).map((j) => [
      make("td", { class: "nowrap" }, seconds(departed[j], 6)),
      this.message(j, `${source[j]} → ${target[j]}`), j === i ? "this one" : ""]);
    return [make("h3", {}, `Its way: ${hops.length} hops`),
      make("div", { class: "scroll" }, rowsOf([], rows))];
  }
}

function entries(count) {
  return count === 0 ? "empty" : count === 1 ? "1 entry" : `${count.toLocaleString("en")} entries`;
}

function more(found) {
  return found.length <= MOST_ROWS ? [] : [make("p", { class: "quiet" },
    `… and ${(found.length - MOST_ROWS).toLocaleString("en")} more.`)];
}
