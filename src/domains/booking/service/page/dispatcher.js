"use strict";
const COLOURS = ["#1659c7", "#c05621", "#2f855a", "#7b3fb5", "#b7791f", "#0e7490", "#be3a6b", "#5b6b2f"];
const $ = (id) => document.getElementById(id);
const svg = (name, attributes, text) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
};
const cells = (values, tag = "td") => values.map((value) => {
  const made = document.createElement(tag);
  if (value instanceof Node) made.append(value); else made.textContent = value;
  return made;
});
const row = (values, tag) => { const made = document.createElement("tr"); made.append(...cells(values, tag)); return made; };
const button = (text, act) => { const made = document.createElement("button"); made.type = "button"; made.textContent = text; made.onclick = act; return made; };
const hours = (text) => { const [h, m, s] = text.split(":").map(Number); return h + m / 60 + (s || 0) / 3600; };
const clock = (text) => text.slice(0, -3);
const money = (amount) => amount.toFixed(Math.abs(amount) < 100 ? 2 : 0);  // the fleet's units may be seconds, or euros
const colour = (number) => COLOURS[number % COLOURS.length];

let plan = null;     // as the service told it last
let frame = null;    // of the map: places to pixels and back
let asked = null;    // what the call on the form is about
let shown = null;    // {customer, offered}, where the form names a customer
const name = () => `${$("depot").value}.${$("day").value}`;

async function tell(method, path, body) {
  const answer = await fetch(path, { method, body: body && JSON.stringify(body) });
  const told = await answer.json();
  if (!answer.ok) throw new Error(told.error || answer.statusText);
  return told;
}
const say = (text, bad = false) => { $("said").textContent = text; $("said").className = bad ? "bad" : ""; };

// ---- The map: longitudes shrink with the latitude, so that a km is as long in every direction.
function make_frame(places) {
  const xs = places.map((p) => p[0]), ys = places.map((p) => p[1]);
  const middle = [(Math.min(...xs) + Math.max(...xs)) / 2, (Math.min(...ys) + Math.max(...ys)) / 2];
  const shrink = plan.degrees ? Math.cos(middle[1] * Math.PI / 180) : 1;
  const least = plan.degrees ? 0.02 : 1000;
  const wide = Math.max((Math.max(...xs) - Math.min(...xs)) * shrink, least), high = Math.max(Math.max(...ys) - Math.min(...ys), least);
  const scale = Math.min(540 / wide, 400 / high);
  return { to: ([x, y]) => [300 + (x - middle[0]) * shrink * scale, 230 - (y - middle[1]) * scale],
           from: ([u, v]) => [middle[0] + (u - 300) / shrink / scale, middle[1] + (230 - v) / scale] };
}

function draw_map() {
  const places = plan.routes.flatMap((r) => [r.start, r.end, ...r.stops.map((s) => s.location)]).filter(Boolean);
  const parts = [];
  if (places.length === 0) { $("map").replaceChildren(svg("text", { x: 20, y: 30 }, "The fleet's places have no coordinates.")); frame = null; return; }
  frame = make_frame(places);
  plan.routes.forEach((route, i) => {
    const stops = route.stops.filter((s) => s.location);
    const way = [route.start, ...stops.map((s) => s.location), route.end].filter(Boolean);
    if (stops.length > 0) parts.push(svg("polyline", { class: "way", stroke: colour(i), points: way.map((p) => frame.to(p).map((n) => n.toFixed(1)).join()).join(" ") }));
    for (const place of [route.start, route.end].filter(Boolean)) { const [u, v] = frame.to(place); parts.push(svg("rect", { class: "depot", x: u - 5, y: v - 5, width: 10, height: 10 })); }
    stops.forEach((stop) => {
      const [u, v] = frame.to(stop.location), mark = svg("circle", { class: "place", cx: u, cy: v, r: 8, fill: colour(i) });
      mark.append(svg("title", {}, `${route.vehicle}: ${stop.id}, ${stop.kind}, ${clock(stop.begin)}`));
      parts.push(mark, svg("text", { class: "number", x: u, y: v + 3.5 }, route.stops.indexOf(stop) + 1));
    });
  });
  const [x, y] = [Number($("x").value), Number($("y").value)];
  if ($("x").value && $("y").value) { const [u, v] = frame.to([x, y]); parts.push(svg("circle", { class: "asked", cx: u, cy: v, r: 11 })); }
  $("map").replaceChildren(...parts);
}

// ---- The timetable
function draw_times() {
  const LEFT = 110, RIGHT = 26, LINE = 46, TOP = 24;
  const slot_of = new Map(plan.bookings.map((b) => [b.id, b.window]));
  const ends = plan.routes.flatMap((r) => [...(r.shift || []), ...r.stops.flatMap((s) => [s.begin, s.end])]).map(hours);
  const first = Math.floor(Math.min(8, ...ends)), last = Math.ceil(Math.max(18, ...ends));
  const width = Math.max(680, Math.min(1290, 96 * (last - first)));
  const at = (hour) => LEFT + (hour - first) / (last - first) * (width - LEFT - RIGHT);
  const parts = [];
  for (let hour = first; hour <= last; ++hour) {
    parts.push(svg("line", { class: "grid", x1: at(hour), x2: at(hour), y1: TOP, y2: TOP + LINE * plan.routes.length }));
    parts.push(svg("text", { class: "tick mid", x: at(hour), y: 14 }, `${hour}:00`));
  }
  plan.routes.forEach((route, i) => {
    const y = TOP + LINE * i;
    parts.push(svg("text", { x: 0, y: y + 22, style: `fill: ${colour(i)}` }, route.vehicle));
    if (plan.num_amounts > 0) parts.push(svg("text", { class: "tick", x: 0, y: y + 37 }, `room for ${route.unheld.join(", ")}`));
    if (route.shift) parts.push(svg("rect", { class: "shift", x: at(hours(route.shift[0])), y: y + 6, width: at(hours(route.shift[1])) - at(hours(route.shift[0])), height: 24, rx: 4 }));
    route.stops.forEach((stop, k) => {
      const x = at(hours(stop.begin)), bar = svg("rect", { x, y: y + 8, width: Math.max(14, at(hours(stop.end)) - x), height: 20, rx: 3, fill: colour(i), opacity: stop.frozen ? .5 : 1 });
      const slot = slot_of.get(stop.id);
      bar.append(svg("title", {}, `${stop.id}, ${stop.kind}: ${clock(stop.begin)} to ${clock(stop.end)}${slot ? `, promised ${clock(slot[0])} to ${clock(slot[1])}` : ""}`));
      parts.push(bar, svg("text", { class: "number", x: x + Math.max(14, at(hours(stop.end)) - x) / 2, y: y + 22 }, k + 1));
      if (slot && stop.kind !== "pickup") parts.push(svg("line", { class: "slot", x1: at(hours(slot[0])), x2: at(hours(slot[1])), y1: y + 35 + 3 * (k % 3), y2: y + 35 + 3 * (k % 3) }));
    });
  });
  const picture = $("times");
  picture.setAttribute("width", width); picture.setAttribute("height", TOP + LINE * plan.routes.length + 4);
  picture.replaceChildren(...parts);
}

// ---- What is booked

// o2 before o10.
function by_number(bookings) {
  return [...bookings].sort((a, b) => a.id.localeCompare(b.id, undefined, {numeric: true}));
}

function draw_rest() {
  const hours_driven = plan.driving_min / 60;
  const tile = (value, text) => { const made = document.createElement("div"); made.className = "tile"; const b = document.createElement("b"), s = document.createElement("span"); b.textContent = value; s.textContent = text; made.append(b, s); return made; };
  $("tiles").replaceChildren(tile(plan.bookings.length, "bookings and holds"), tile(`${plan.vehicles_used} of ${plan.routes.length}`, "vehicles"),
                             tile(`${plan.km.toFixed(1)} km`, "driven"), tile(`${hours_driven.toFixed(1)} h`, "of driving"), tile(money(plan.cost), "cost, in the fleet's units"));
  const act = (verb, id) => async () => { try { await tell("POST", `/v1/plans/${name()}/${verb}`, { id }); say(`${id}: ${verb} done`); } catch (error) { say(error.message, true); } await load(); };
  $("bookings").replaceChildren(row(["booking", "state", "vehicle", "promised", ""], "th"), ...by_number(plan.bookings).map((b) => {
    const buttons = document.createElement("span");
    if (b.state === "held") buttons.append(button("Book", act("commit", b.id)), " ", button("Let go", act("decline", b.id)));
    else buttons.append(button("Cancel", act("cancel", b.id)));
    return row([b.id, b.state, b.vehicle, b.window.map(clock).join(" to "), buttons]);
  }));
}

// ---- A call
function slots_asked() {
  const shifts = plan.routes.map((r) => r.shift).filter(Boolean).map((s) => s.map(hours));
  const first = shifts.length ? Math.floor(Math.min(...shifts.map((s) => s[0]))) : 8, last = shifts.length ? Math.ceil(Math.max(...shifts.map((s) => s[1]))) : 18;
  const width = Number($("width").value), text = (minute) => `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
  const slots = [];
  for (let minute = first * 60; minute + width <= last * 60; minute += width) slots.push({ window: [text(minute), text(minute + width)] });
  return slots;
}

// What a slot is shown for: what the policy asks, or the incentive that is advised.
const fee_of = (slot) => slot.fee !== undefined ? { fee: slot.fee } : slot.incentive ? { fee: -slot.incentive } : {};
function shown_for(slot) {
  if (!slot.show) return "no";
  const { fee } = fee_of(slot);
  return fee === undefined ? "yes" : fee < 0 ? `yes, ${-fee} off` : `yes, for ${fee}`;
}

async function quote(event) {
  if (event) event.preventDefault();
  const load = $("load").value.split(",").map(Number);
  asked = { id: $("id").value, location: [Number($("x").value), Number($("y").value)], service: 60 * Number($("service").value) };
  if (plan.num_amounts > 0) asked.delivery = load;
  if ($("revenue").value) asked.revenue = Number($("revenue").value);
  const customer = $("customer").value ? { customer: $("customer").value } : {};
  try {
    const told = await tell("POST", `/v1/plans/${name()}/quote`, { job: asked, slots: slots_asked(), ...customer });
    const offered = told.slots.filter((s) => s.show).map((s) => ({ window: s.window, ...fee_of(s) }));
    shown = customer.customer && offered.length ? { ...customer, offered } : null;
    const policy = told.advice.policy;
    $("slots").replaceChildren(row(["slot", "", "show", "cost more", ...(policy ? ["with later calls"] : []), "after search", "chance"], "th"), ...told.slots.map((slot) => {
      const window = slot.window.map(clock).join(" to ");
      if (!slot.feasible) {
        const made = row([window]), why = cells([slot.why])[0];
        why.colSpan = policy ? 6 : 5; why.className = "why"; made.append(why);
        return made;
      }
      const buttons = document.createElement("span");
      buttons.append(button("Hold", () => take("hold", slot, { ttl_s: 600 })), " ", button("Book", () => take("commit", slot, {})));
      const chance = slot.chance === undefined ? "" : `${(100 * slot.chance).toFixed(0)} %`, later = slot.opportunity === undefined ? "" : money(slot.opportunity);
      const made = row([window, buttons, shown_for(slot), money(slot.added_cost), ...(policy ? [later] : []), slot.cost_interval.map(money).join(" to "), chance]);
      made.title = `${slot.vehicle}: ${slot.added_km.toFixed(1)} km and ${slot.added_min.toFixed(0)} minutes more, there at ${clock(slot.begin)}${slot.load.length ? `, then ${slot.load.join(", ")} of ${slot.capacity.join(", ")} aboard` : ""}${slot.displaced.length ? `; moves ${slot.displaced.map((one) => one.id).join(", ")}` : ""}`;
      if (slot.show) made.className = "best";
      return made;
    }));
    if (shown) $("slots").append(row([button("Takes none", decline)]));
    const margin = told.advice.margin === undefined ? "" : ` Expected margin ${money(told.advice.margin)}, ${money(told.advice.margin_of_all)} when all are shown.`;
    say(told.slots.some((s) => s.feasible) ? `Nothing is promised yet. Slots to show are bold${policy ? `, at the fees of ${policy}` : ""}, by ${told.advice.answers} answers of this customer.${margin}` : "No slot of this day can be offered.");
  } catch (error) { say(error.message, true); }
  draw_map();
}

async function decline() {
  try { await tell("POST", `/v1/plans/${name()}/decline`, { job: asked, ...shown }); say(`${asked.id}: said no`); $("slots").replaceChildren(); }
  catch (error) { say(error.message, true); }
}

async function take(verb, slot, more) {
  const seen = shown && shown.offered.some((s) => s.window[0] === slot.window[0] && s.window[1] === slot.window[1]) ? shown : {};
  try {
    const told = await tell("POST", `/v1/plans/${name()}/${verb}`, { job: asked, slot: { window: slot.window }, ...seen, ...more });
    say(`${told.id} is ${told.state}: ${told.window.map(clock).join(" to ")}, by ${told.vehicle}`);
    $("slots").replaceChildren();
  } catch (error) { say(error.message, true); }
  await load();
}

// ---- All of it
async function load() {
  try {
    plan = await tell("GET", `/v1/plans/${name()}`);
    $("state").textContent = `version ${plan.version}`; $("state").className = "";
    $("amounts").hidden = plan.num_amounts === 0;
    draw_map(); draw_times(); draw_rest();
  } catch (error) { $("state").textContent = error.message; $("state").className = "bad"; }
}

async function begin() {
  const told = await tell("GET", "/v1/plans");
  $("depot").replaceChildren(...told.depots.map((depot) => new Option(depot, depot)));
  // #PLAN, or #PLAN?id=o7&x=13.41&y=52.5 for a call that another program hands over.
  const [named, call] = location.hash.slice(1).split("?");
  const wanted = decodeURIComponent(named) || told.plans.at(-1) || "";
  const dot = wanted.lastIndexOf(".");
  $("depot").value = told.depots.includes(wanted.slice(0, dot)) ? wanted.slice(0, dot) : told.depots[0];
  $("day").value = dot > 0 ? wanted.slice(dot + 1) : new Date().toISOString().slice(0, 10);
  const go = () => { location.hash = name(); $("slots").replaceChildren(); load(); };
  $("depot").onchange = $("day").onchange = go;
  $("call").onsubmit = quote;
  $("map").onclick = (event) => {
    if (!frame) return;
    const box = $("map").getBoundingClientRect();
    const place = frame.from([(event.clientX - box.left) * 600 / box.width, (event.clientY - box.top) * 460 / box.height]);
    const digits = plan.degrees ? 5 : 0;
    $("x").value = place[0].toFixed(digits); $("y").value = place[1].toFixed(digits);
    draw_map();
  };
  await load();
  if (call && plan) {
    for (const [key, value] of new URLSearchParams(call)) if (["id", "customer", "revenue", "x", "y", "service", "load", "width"].includes(key)) $(key).value = value;
    await quote();
  }
  setInterval(() => { if (!document.hidden) load(); }, 5000);
}
begin();
