// The view of a model of ours that reads something: a control for each field, answers below.

import * as api from "../api.js";
import { make } from "../dom.js";
import { askAlternatives, isMissing } from "./alternatives.js";
import { makeAnswer } from "./answer.js";
import { markDifferences } from "./differences.js";
import { lookedAt, makeExplanation } from "./explanation.js";
import { makeGiven } from "./given.js";
import { withNames } from "./kinds.js";
import { columnsOf, rowOf, rowsOf } from "./rows.js";

// So that the first answers to a long text do not wait for the last.
const ROWS_AT_ONCE = 8;

/**
 * Opens the view on a version.
 *
 * @param kinds As of views/kinds.js.
 * @returns What the page works with: the form's elements, what to remember of them, the request
 *   that they make (null: nothing to ask), and `answer`, which asks a version and draws.
 */
export async function openPair({ version, saved, kinds }) {
  const description = withNames(version.description);
  const { inputs, output } = description;
  const controls = inputs.map((field, i) => kinds.inputs[i].makeInput(field, saved[field.name] ?? ""));
  const byName = (of) => Object.fromEntries(inputs.map(({ name }, i) => [name, of(controls[i])]));

  return {
    elements: controls.map((control) => control.element),
    saved: () => byName((control) => control.saved()),
    focus: () => (controls.find((control) => !control.values().length) ?? controls[0]).focus(),
    request: () => {
      const rows = rowsOf(byName((control) => control.values()));
      return rows.length ? rows : null;
    },
    async answer(rows, model, version, show, signal) {
      const list = make("div", { class: "answers" });
      const ask = { model, version, output: output.name, signal };
      const texts = [];
      for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
        const chunk = rows.slice(start, start + ROWS_AT_ONCE);
        const found = await askAlternatives(ask, signatureFor(kinds.output, version), chunk);
        chunk.forEach((row, i) => {
          const alternatives = found[i];
          const given = makeGiven(inputs, kinds, row);
          const shown = { row, given, alternatives, alone: rows.length === 1, signal };
          const explain = explainer(row, alternatives, ask, description, kinds);
          list.append(makeAnswer(shown, { field: output, kind: kinds.output }, explain));
          const [best] = alternatives;
          texts.push(isMissing(best) ? "No answer." : kinds.output.asText(best.value));
        });
        if (start === 0) show(list);
      }
      const said = texts.length === 1 ? texts[0] : `${texts.length} answers.`;
      return { said, best: [...list.querySelectorAll(".best")] };
    },
    compare: (one, other) =>
      one.best.forEach((element, i) => markDifferences(element, other.best[i])),
  };
}

function signatureFor(kind, version) {
  return kind.asks ?? (version.signatures.includes("nbest") ? "nbest" : "serving_default");
}

/** Asks where the model looked for an alternative. */
function explainer(row, alternatives, { model, version, output }, description, kinds) {
  return async (index, signal) => {
    // `explain` searches for itself and finds the best; `score` looks at any answer it is given.
    const signature = index === 0 ? "explain" : "score";
    if (!lookedAt(description).length || !version.signatures.includes(signature)) return [];
    const inputs = columnsOf([row]);
    // What is written may be read as well; then the two are told apart by name.
    if (index) inputs[output in row ? `${output}_given` : output] = [alternatives[index].value];
    const answer = await api.ask(model, version.asked, signature, inputs, signal);
    return makeExplanation(description, kinds, rowOf(answer, 0), row);
  };
}
