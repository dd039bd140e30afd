// The view of a model that the page has no view for: any signature, any body, the answer as it came.

import * as api from "../api.js";
import { fillSelect, make } from "../dom.js";

const LONGEST_SHOWN = 200_000;
const EXAMPLES = { DT_STRING: "", DT_BOOL: false };

/** Opens the view on a version: as `openPair` of views/pair.js. */
export async function openJson({ model, version, saved }) {
  const signatures = await api.signatures(model, version.asked);
  const names = Object.keys(signatures).filter((name) => !name.startsWith("__")).sort();
  const usual = names.includes("serving_default") ? "serving_default" : names[0];
  const chosen = names.includes(saved.signature) ? saved.signature : usual;
  const select = make("select", { id: "signature" });
  fillSelect(select, names.map((name) => [name, name]), chosen);
  const box = make("textarea", {
    id: "body",
    class: "code",
    rows: 8,
    dir: "ltr",
    autocomplete: "off",
    spellcheck: "false",
  });
  box.value = saved.body || example(select.value, signatures);
  select.addEventListener("change", () => {
    box.value = example(select.value, signatures);
  });
  const say = (id, text) => make("label", { for: id, class: "hint" }, text);
  return {
    elements: [
      make("div", { class: "field" }, say(select.id, "signature"), select),
      make("div", { class: "field" }, say(box.id, "body of the request, in JSON"), box),
    ],
    // An example is no question: it is asked when somebody asks it.
    waits: true,
    saved: () => ({ signature: select.value, body: box.value }),
    request: () => box.value.trim() || null,
    focus: () => box.focus(),
    async answer(body, model, version, show, signal) {
      const text = await api.askRaw(model, version.asked, body, signal);
      const shown = text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
      show(make("pre", { class: "code scrolls", tabindex: 0, dir: "ltr" }, shown));
      return { said: "Answered." };
    },
  };
}

function example(name, signatures) {
  const inputs = {};
  for (const [field, info] of Object.entries(signatures[name]?.inputs ?? {}).sort()) {
    const sizes = (info.tensor_shape?.dim ?? []).map((dim) => Math.max(1, Number(dim.size)));
    const value = EXAMPLES[info.dtype] ?? 0;
    inputs[field] = sizes.reduceRight((inner, size) => Array(Math.min(size, 16)).fill(inner), value);
  }
  return JSON.stringify({ signature_name: name, inputs }, null, 1);
}
