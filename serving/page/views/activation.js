// What one unit of a model did while it wrote a text: red where it was positive, blue where negative.

import { make, shownNumber } from "../dom.js";
import { joinBytes } from "./bytes.js";
import { readTokens, withoutPadding } from "./tokens.js";

const HELP =
  "Each token is painted with the unit's value when it was about to be written. " +
  "Point at one, or walk with ← and →; ↑ and ↓ choose the unit.";
const BYTE = /^<0x([0-7][0-9A-F])>$/;

/**
 * Draws the activations of one unit over a text.
 *
 * @param tokens What was written; padding at the end is dropped.
 * @param activations `[token][unit]`.
 * @param scores The log probability of each token, or nothing.
 * @param options `unit`: the one to begin with (none: the one of greatest variance), and
 *   `onUnit`, called with the one that somebody chose.
 */
export function makeActivation(tokens, activations, scores, { unit = null, onUnit } = {}) {
  const joined = joinBytes(withoutPadding(tokens));
  if (!joined.length) return make("p", { class: "hint" }, "There is nothing to paint.");
  const count = activations[0].length;
  const values = joined.map(({ from, to }) => mean(activations.slice(from, to)));
  const spans = makeSpans(joined);
  const readout = make("p", { class: "readout", role: "status" });
  const number = make("input", { type: "number", min: 0, max: count - 1, step: 1 });
  const ends = [make("span"), make("span")];
  let here = null;
  let shown = 0;

  const tell = (index) => {
    spans.forEach((span, i) => span.classList.toggle("on", i === index));
    if (index === null) return readout.replaceChildren(HELP);
    const score = scores
      ? sum(scores.slice(joined[index].from, joined[index].to))
      : null;
    return readout.replaceChildren(
      make("bdi", { class: "word" }, spans[index].textContent.trim() || "␣"),
      ` ${shownNumber(values[index][shown], 3)}`,
      score === null ? "" : ` · log probability ${shownNumber(score)}`,
    );
  };
  const paint = (wanted) => {
    shown = Math.max(0, Math.min(count - 1, wanted));
    const line = values.map((of) => of[shown]);
    const strongest = Math.max(...line.map(Math.abs)) || 1;
    spans.forEach((span, i) => {
      span.classList.toggle("negative", line[i] < 0);
      span.style.setProperty("--share", (Math.abs(line[i]) / strongest).toFixed(3));
      span.title = shownNumber(line[i], 3);
    });
    ends[0].textContent = shownNumber(-strongest);
    ends[1].textContent = shownNumber(strongest);
    tell(here);
  };
  const choose = (wanted) => {
    paint(wanted);
    number.value = shown;
    onUnit?.(shown);
  };
  number.addEventListener("input", () => {
    if (number.value === "" || !Number.isInteger(Number(number.value))) return;
    paint(Number(number.value));
    onUnit?.(shown);
  });
  number.addEventListener("change", () => (number.value = shown));

  const text = make("p", { class: "painted scrolls", dir: "auto", tabindex: 0, role: "application" });
  text.setAttribute("aria-label", `The text, painted. ${HELP}`);
  text.append(...spans);
  text.addEventListener("pointerover", (event) => {
    const index = spans.indexOf(event.target.closest?.("span"));
    tell(index < 0 ? here : index);
  });
  text.addEventListener("pointerleave", () => tell(here));
  text.addEventListener("keydown", (event) => {
    const step = getComputedStyle(text).direction === "rtl" ? -1 : 1;
    const along = { ArrowRight: step, ArrowLeft: -step }[event.key];
    const up = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (event.key === "Escape") tell((here = null));
    if (!along && !up) return;
    event.preventDefault();
    if (up) return choose(shown + up);
    here = here === null ? 0 : Math.max(0, Math.min(spans.length - 1, here + along));
    spans[here].scrollIntoView({ block: "nearest" });
    tell(here);
  });
  choose(unit ?? mostVarying(values));
  const find = make("button", { type: "button" }, "Greatest variance");
  find.addEventListener("click", () => choose(mostVarying(values)));
  return make(
    "figure",
    { class: "activation" },
    make(
      "div",
      { class: "together" },
      make("label", { class: "choice" }, make("span", {}, "Unit"), number),
      make("span", { class: "hint" }, `0 to ${count - 1}`),
      find,
    ),
    readout,
    text,
    make(
      "figcaption",
      { class: "scale hint" },
      ends[0],
      make("span", { class: "bar diverging" }),
      ends[1],
    ),
  );
}

/** The unit whose values differ most from their mean. */
export function mostVarying(values) {
  const means = mean(values);
  const variances = means.map((of, unit) => sum(values.map((line) => (line[unit] - of) ** 2)));
  return variances.indexOf(Math.max(...variances));
}

/** The text as it reads, with its ends of lines; elsewhere tokens stand apart and show their spaces. */
function makeSpans(joined) {
  return joined.map(({ token }, index) => {
    const [, byte] = BYTE.exec(token) ?? [];
    const plain = byte ? String.fromCharCode(parseInt(byte, 16)) : token;
    if (plain === "\n") return make("span", {}, "↵\n");
    const [{ text, special }] = readTokens([plain]);
    if (special && token === "</s>") return make("span", { class: "special" }, " end");
    const gap = token.startsWith("▁") && index ? " " : "";
    return make("span", {}, special || text === "␣" ? gap || " " : gap + text.replaceAll("␣", " "));
  });
}

function mean(lines) {
  return lines[0].map((_, i) => sum(lines.map((line) => line[i])) / lines.length);
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
