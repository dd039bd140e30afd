// What a model answers: the values with their scores, and which of them are none.

import * as api from "../api.js";
import { columnsOf, rowOf } from "./rows.js";

/**
 * Asks for the answers to each row, best first: `[[{value, score, outputs}, ...], ...]`.
 *
 * @param ask `{model, version, output, signal}`: whom to ask, and for which field.
 * @param signature One of those that give the best answer, or several.
 * @param columns What to ask with, where it is more than the rows.
 */
export async function askAlternatives(ask, signature, rows, columns = columnsOf(rows)) {
  const { model, version, output, signal } = ask;
  const answer = await api.ask(model, version.asked, signature, columns, signal);
  // TF Serving does not name an output that is the only one.
  const outputs = Array.isArray(answer) ? { [output]: answer } : answer;
  const several = signature === "nbest" || signature === "sample";
  return rows.map((_, i) => {
    const values = several ? outputs[output][i] : [outputs[output][i]];
    const scores = several ? outputs.score[i] : [outputs.score?.[i]];
    // Of several answers nothing else is told.
    const others = several ? {} : rowOf(outputs, i);
    return values.map((value, k) => ({ value, score: scores[k], outputs: others }));
  });
}

/** Whether the model had nothing to answer: to an input without anything in it there is no answer. */
export function isMissing({ value, score }) {
  if (Array.isArray(value)) return value.every((number) => number === null);
  return value === "" && score === null;
}
