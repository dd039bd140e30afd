// The view of a model of ours: a control for each field that it reads, answers below.

import * as api from "../api.js";
import { make } from "../dom.js";
import { makeAnswer } from "./answer.js";
import { markDifferences } from "./differences.js";
import { rowsOf } from "./rows.js";

// So that the first answers to a long text do not wait for the last.
const ROWS_AT_ONCE = 8;

/**
 * Opens the view on a version.
 *
 * @returns What the page works with: the form's elements, what to remember of them, the request
 *   that they make (null: nothing to ask), and `answer`, which asks a version and draws.
 */
export async function openPair({ version, saved }) {
  const { inputs, output } = version.description;
  const kinds = await Promise.all(inputs.map(({ kind }) => import(`../kinds/${kind}.js`)));
  const outputKind = await import(`../kinds/${output.kind}.js`);
  const controls = inputs.map((field, i) => kinds[i].makeInput(field, saved[field.name] ?? ""));
  const byName = (of) => Object.fromEntries(inputs.map(({ name }, i) => [name, of(controls[i])]));

  return {
    elements: controls.map((control) => control.element),
    saved: () => byName((control) => control.saved()),
    focus: () => controls[0].focus(),
    request: () => {
      const rows = rowsOf(byName((control) => control.values()));
      return rows.length ? rows : null;
    },
    async answer(rows, model, version, show, signal) {
      const list = make("div", { class: "answers" });
      const texts = [];
      for (let start = 0; start < rows.length; start += ROWS_AT_ONCE) {
        const chunk = rows.slice(start, start + ROWS_AT_ONCE);
        const found = await alternatives(model, version, chunk, output.name, signal);
        chunk.forEach((row, i) => {
          const shown = { row, alternatives: found[i], alone: rows.length === 1 };
          const ask = { model, version, output: output.name, signal };
          list.append(makeAnswer(shown, ask, { input: kinds[0], output: outputKind }));
          texts.push(outputKind.asText(found[i][0].value));
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

/** The answers to each row, best first: `[[{value, score}, ...], ...]`. */
async function alternatives(model, version, rows, output, signal) {
  const several = version.signatures.includes("nbest");
  const signature = several ? "nbest" : "serving_default";
  const columns = Object.fromEntries(
    Object.keys(rows[0]).map((name) => [name, rows.map((row) => row[name])]),
  );
  const outputs = await api.ask(model, version.asked, signature, columns, signal);
  return rows.map((_, i) => {
    const values = several ? outputs[output][i] : [outputs[output][i]];
    const scores = several ? outputs.score[i] : [outputs.score?.[i]];
    return values.map((value, k) => ({ value, score: scores[k] }));
  });
}
