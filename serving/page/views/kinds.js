// The browser parts of a model's kinds: `kinds/<kind>/page.js` of the package, one for each field.

/**
 * Loads what a model's fields need.
 *
 * @param description The model's, or null.
 * @param served The kinds that the server has such a part of.
 * @returns `{inputs: [module, ...], output: module}`; null where one is missing, or cannot do what
 *   its field needs: then the model is asked in JSON.
 */
export async function loadKinds(description, served) {
  if (!description) return null;
  const { inputs, output } = description;
  if (![...inputs, output].every(({ kind }) => served.includes(kind))) return null;
  const load = ({ kind }) => import(`../kinds/${kind}.js`);
  const kinds = { inputs: await Promise.all(inputs.map(load)), output: await load(output) };
  const asks = inputs.length ? kinds.inputs.every((kind) => kind.makeInput) : kinds.output.makeBeginning;
  return asks && kinds.output.makeOutput && kinds.output.asText ? kinds : null;
}

/** A description with the outputs' names: those that tell no axes are of a time when all had these. */
export function withNames(description) {
  if (Object.keys(description.axes ?? {}).length || description.inputs.length !== 1) return description;
  const [input] = description.inputs;
  const names = { tokens: "source_tokens", attention: "attention" };
  return {
    ...description,
    inputs: [{ ...input, ...names }],
    output: { ...description.output, tokens: "target_tokens" },
  };
}
