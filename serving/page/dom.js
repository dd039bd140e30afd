// Elements from plain values. Texts become text nodes, so nothing here can turn into markup.

/** Makes an element: `make("p", {class: "hint", dir: "auto"}, "Hello ", child)`. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value != null) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

/** Fills a select with `[value, text]` pairs and chooses one; does nothing if nothing changed. */
export function fillSelect(select, choices, chosen) {
  const now = JSON.stringify(choices);
  if (select.dataset.choices !== now) {
    select.dataset.choices = now;
    select.replaceChildren(...choices.map(([value, text]) => make("option", { value }, text)));
  }
  select.value = chosen;
}

/** A score for people: enough digits to compare, a real minus sign. */
export function shownNumber(value, digits = 2) {
  if (typeof value !== "number" || !Number.isFinite(value)) return "–";
  return value.toFixed(digits).replace("-", "−");
}
