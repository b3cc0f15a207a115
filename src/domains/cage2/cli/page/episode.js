"use strict";
const game = JSON.parse(document.getElementById("game").textContent);
const subnets = { User: ["User0", "User1", "User2", "User3", "User4"],
                  Enterprise: ["Enterprise0", "Enterprise1", "Enterprise2", "Defender"],
                  Operational: ["Op_Host0", "Op_Host1", "Op_Host2", "Op_Server0"] };
const order = Object.values(subnets).flat().sort();  // the challenge numbers hosts alphabetically
const marks = { "00": "", "10": "marked unknown", "01": "marked user", "11": "marked privileged" };
const start = { blue: "", red: "", red_move: {}, reward: 0, service_up: true, observation: "0".repeat(52),
                sessions: { User0: { sessions: 1, privileged: 1 } }, decoys: {} };
const steps = [start, ...game.episode];
let total = 0;
const totals = steps.map((step) => (total += step.reward));

function element(tag, className, text, parent) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}
function result(success) { return success === true ? ": done" : success === false ? ": failed" : ""; }
function points(number) { return number.toFixed(1).replace(/^-0\.0$/, "0.0").replace("-", "\u2212"); }

const panels = {};
const cards = {};
for (const [name, hosts] of Object.entries(subnets)) {
  panels[name] = element("div", "subnet", "", document.getElementById("subnets"));
  element("h2", "", name, panels[name]);
  const grid = element("div", "hosts", "", panels[name]);
  for (const host of hosts) cards[host] = element("article", "host", "", grid);
}
const service = element("p", "service", "", panels.Operational);

function show_host(host, step) {
  const card = cards[host];
  const at = step.sessions[host];
  const bits = step.observation.substr(4 * order.indexOf(host), 4);
  const move = step.red_move;
  card.className = "host" + (at ? (at.privileged ? " root" : " user") : "") +
      (step.blue.endsWith(" " + host) ? " acted" : "") +
      (move.target === host ? " target" + (move.success === false ? " failed" : "") : "");
  card.replaceChildren();
  const header = element("header", "", "", card);
  element("span", "", host, header);
  if (at) element("span", "red", (at.privileged ? "root" : "user") + (at.sessions > 1 ? " \u00d7" + at.sessions : ""), header);
  const view = element("p", "", "", card);
  if (bits[0] === "1") element("span", bits[1] === "1" ? "badge alarm" : "badge", bits[1] === "1" ? "alarm" : "scan", view);
  element("span", "blue", marks[bits.slice(2)], view);
  element("p", "decoys", (step.decoys[host] || []).join(", "), card);
}

const slider = document.getElementById("step");
const bars = [];
function show(number) {
  const step = steps[number];
  slider.value = number;
  document.getElementById("number").textContent = `${number} / ${game.steps}`;
  document.getElementById("blue").textContent = step.blue ? step.blue + result(step.blue_success) : "before the first step";
  document.getElementById("red").textContent = step.red + result(step.red_move.success) +
      (step.red_move.success && "detected" in step.red_move && step.red_move.exploit !== "SSHBruteForce"
          ? (step.red_move.detected ? ", detected" : ", not detected") : "");
  document.getElementById("reward").textContent = `${points(step.reward)} in this step, ${points(totals[number])} so far`;
  service.textContent = step.service_up ? "The OT service runs." : "The OT service is down.";
  service.style.color = step.service_up ? "var(--good)" : "var(--red)";
  for (const host of order) show_host(host, step);
  for (const [name, panel] of Object.entries(panels)) panel.classList.toggle("sought", step.red_move.target === name);
  bars.forEach((bar, i) => bar.setAttribute("class", i === number ? "now" : ""));
}

// What each step cost, to be clicked on.
const chart = document.getElementById("costs");
const most = Math.max(1, ...steps.map((step) => -step.reward));
chart.setAttribute("viewBox", `0 0 ${steps.length} 100`);
steps.forEach((step, i) => {
  const bar = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const height = Math.max(4, 100 * Math.sqrt(-step.reward / most));
  for (const [key, value] of Object.entries({ x: i + 0.1, y: 100 - height, width: 0.8, height })) bar.setAttribute(key, value);
  bars.push(bar);
  chart.append(bar);
});
chart.addEventListener("click", (event) => {
  const box = chart.getBoundingClientRect();
  show(Math.min(steps.length - 1, Math.floor(steps.length * (event.clientX - box.left) / box.width)));
});

let timer = null;
const play = document.getElementById("play");
function stop() { clearInterval(timer); timer = null; play.textContent = "\u25b6"; play.setAttribute("aria-label", "play"); }
function move(by) { stop(); show(Math.min(steps.length - 1, Math.max(0, Number(slider.value) + by))); }
play.addEventListener("click", () => {
  if (timer) return stop();
  if (Number(slider.value) === steps.length - 1) show(0);
  play.textContent = "\u23f8";
  play.setAttribute("aria-label", "pause");
  timer = setInterval(() => Number(slider.value) < steps.length - 1 ? show(Number(slider.value) + 1) : stop(), 700);
});
document.getElementById("back").addEventListener("click", () => move(-1));
document.getElementById("next").addEventListener("click", () => move(1));
slider.max = steps.length - 1;
slider.addEventListener("input", () => { stop(); show(Number(slider.value)); });
show(Math.min(steps.length - 1, Number(location.hash.slice(1)) || 0));
