// The page's state stands behind the # of its address, so that a link shows the same.
//
//   #model=cmudict&version=3&beside=2&in.source=tree
//
// What stands beside may be of another model: beside=2@other.

const INPUT = "in.";

/** Reads the address: `{model, version, beside, inputs: {source: "tree"}}`. */
export function readAddress() {
  const state = { model: "", version: "", beside: "", inputs: {} };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
    if (name.startsWith(INPUT)) state.inputs[name.slice(INPUT.length)] = value;
    else if (name in state && name !== "inputs") state[name] = value;
  }
  return state;
}

/** Writes the state into the address, without a step in the browser's history. */
export function writeAddress({ model, version, beside, inputs }) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries({ model, version, beside })) {
    if (value) parts.set(name, value);
  }
  for (const [name, value] of Object.entries(inputs)) {
    if (value) parts.set(INPUT + name, value);
  }
  history.replaceState(null, "", `#${parts}`);
}
