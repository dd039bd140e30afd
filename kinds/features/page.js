// The kind `features` on the page, served as /page/kinds/features.js: paths are those of the page.

import { make } from "../dom.js";
import { followDrops } from "../views/files.js";
import { makeFrames } from "../views/frames.js";

const MOST_TOLD = 4;

/** The control for a field: vectors as JSON, written or in a file. */
export function makeInput(field, saved) {
  const id = `input-${field.name}`;
  const { width } = field.details ?? {};
  const box = make("textarea", {
    id,
    class: "code",
    rows: 4,
    dir: "ltr",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: `[[0.1, 0.2, …], …]: a list of vectors${width ? `, each of ${width} numbers` : ""}. A JSON file can be dropped here.`,
    "aria-describedby": `${id}-wrong`,
  });
  box.value = saved;
  const wrong = make("p", { id: `${id}-wrong`, class: "wrong", role: "alert", hidden: true });
  const tell = (problem) => {
    wrong.textContent = problem;
    wrong.hidden = !problem;
    box.setAttribute("aria-invalid", String(Boolean(problem)));
  };
  box.addEventListener("input", () => tell(""));
  followDrops(box, async ([file]) => {
    if (file) box.value = await file.text();
    tell("");
  });
  const label = make("label", { for: id, class: "hint" }, field.name);
  return {
    element: make("div", { class: "field" }, label, box, wrong),
    values: () => {
      if (!box.value.trim()) return [];
      const [vectors, problem] = readVectors(box.value, width);
      tell(problem);
      return problem ? [] : [vectors];
    },
    saved: () => box.value,
    focus: () => box.focus(),
  };
}

/** A value as plain text: where its first vector begins. */
export function asText(value) {
  if (!Array.isArray(value)) return "";
  const shown = (value[0] ?? []).slice(0, MOST_TOLD).map((number) => Number(number ?? NaN).toPrecision(3) * 1);
  return `${shown.join(" ")} …`;
}

/** When the model looked: `row` are the outputs of one row. */
export function makeAttention({ field, output, row }) {
  if (!row[field.attention]) return null;
  return makeFrames([], row[output.tokens], row[field.attention], row[field.tokens]);
}

/** The vectors that a text holds, and what is wrong with it. */
function readVectors(text, width) {
  let found;
  try {
    found = JSON.parse(text);
  } catch (error) {
    return [null, `Not JSON: ${error.message}`];
  }
  const vectors = Array.isArray(found) && found.every((one) => typeof one === "number") ? [found] : found;
  const fits = (one) =>
    Array.isArray(one) && one.every((number) => typeof number === "number") && (!width || one.length === width);
  if (!Array.isArray(vectors) || !vectors.length || !vectors.every(fits)) {
    return [null, `Expected a list of vectors${width ? ` of ${width} numbers` : ""}: [[0.1, …], …].`];
  }
  return [vectors, ""];
}
