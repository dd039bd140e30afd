// The view of a model that reads nothing: it goes on from a beginning, and shows its units at work.

import * as api from "../api.js";
import { make } from "../dom.js";
import { askAlternatives } from "./alternatives.js";
import { makeAnswer } from "./answer.js";
import { markDifferences } from "./differences.js";
import { rowOf } from "./rows.js";

const BEGINNING = "beginning";
let boxes = 0;

/** Opens the view on a version: as `openPair` of views/pair.js. */
export async function openContinuation({ version, saved, kinds }) {
  const { output } = version.description;
  const control = kinds.output.makeBeginning({ name: BEGINNING }, saved[BEGINNING] ?? "");
  return {
    elements: [control.element],
    saved: () => ({ [BEGINNING]: control.saved() }),
    focus: () => control.focus(),
    request: () => control.values().map((value) => ({ [BEGINNING]: value })),
    async answer(rows, model, version, show, signal) {
      const ask = { model, version, output: output.name, signal };
      const several = version.signatures.includes("nbest");
      const [found] = await askAlternatives(ask, several ? "nbest" : "serving_default", rows);
      const element = makeContinuations(rows[0], found, ask, { field: output, kind: kinds.output });
      show(element);
      return { said: kinds.output.asText(found[0].value), best: [...element.querySelectorAll(".best")] };
    },
    compare: (one, other) =>
      one.best.forEach((element, i) => markDifferences(element, other.best[i])),
  };
}

/** The answers, those that are drawn when somebody asks for more, and the units over one of them. */
function makeContinuations(row, found, ask, output) {
  const place = make("div");
  const painter = canPaint(ask, output) ? makePainter(ask, output) : null;
  const show = (alternatives, chosen) => {
    const shown = { row, alternatives, chosen, alone: true, signal: ask.signal };
    const explain = async (index, signal) => {
      await painter?.paint(alternatives[index].value, signal);
      return [];
    };
    place.replaceChildren(makeAnswer(shown, output, explain));
  };
  show(found, 0);
  const drawer = ask.version.signatures.includes("sample") ? makeDrawer(row, found, ask, show) : null;
  return make("div", { class: "answers continued" }, place, drawer, painter?.element);
}

/** A button that asks for answers as likely as the model holds them, others each time. */
function makeDrawer(row, found, ask, show) {
  const button = make("button", { type: "button" }, "Draw others");
  const notice = make("p", { class: "notice", role: "alert", hidden: true });
  let seed = 0;
  button.addEventListener("click", async () => {
    button.disabled = true;
    const columns = { [BEGINNING]: [row[BEGINNING]], seed: [++seed] };
    try {
      const [drawn] = await askAlternatives(ask, "sample", [row], columns);
      notice.hidden = true;
      show([...found, ...drawn], found.length);
    } catch (error) {
      if (error.name === "AbortError") return;
      notice.textContent = error.message;
      notice.hidden = false;
    } finally {
      button.disabled = false;
    }
  });
  return make("div", { class: "drawer" }, button, notice);
}

function canPaint({ version }, { kind }) {
  return kind.makeActivation && version.signatures.includes("score");
}

/** A box for any text, and the units over it. */
function makePainter({ model, version, output: name }, { field, kind }) {
  const id = `paint-${++boxes}`;
  const box = make("textarea", { id, rows: 3, dir: "auto", spellcheck: "false" });
  const button = make("button", { type: "button" }, "Paint");
  const place = make("div");
  let unit = null;
  let latest = null;
  const draw = async (text, signal) => {
    const outputs = await api.ask(model, version.asked, "score", { [name]: [text] }, signal);
    const options = { unit, onUnit: (chosen) => (unit = chosen) };
    const drawing = kind.makeActivation({ output: field, row: rowOf(outputs, 0) }, options);
    if (!signal.aborted) place.replaceChildren(...(drawing ? [drawing] : []));
  };
  const paint = async (text, signal) => {
    latest?.abort();
    const mine = (latest = new AbortController());
    signal?.addEventListener("abort", () => mine.abort());
    try {
      await draw(text, mine.signal);
    } catch (error) {
      if (error.name === "AbortError") return;
      place.replaceChildren(make("p", { class: "notice", role: "alert" }, error.message));
    }
  };
  button.addEventListener("click", () => paint(box.value));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    // Elsewhere on the page it asks for an answer.
    event.preventDefault();
    event.stopPropagation();
    paint(box.value);
  });
  const label = make("label", { for: id, class: "hint" }, "One unit over the answer, or any text of yours");
  return {
    element: make(
      "section",
      { class: "painter", "aria-label": "Activations" },
      make("div", { class: "field" }, label, box),
      make("div", { class: "together" }, button),
      place,
    ),
    /** Paints an answer, which then stands in the box. */
    paint(text, signal) {
      box.value = text;
      return paint(text, signal);
    },
  };
}
