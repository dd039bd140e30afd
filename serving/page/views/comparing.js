// What may stand beside a version: another of its model, or of a model with the same fields.

/** How the address and the list name what stands beside a version of `model`: `17`, `17@other`. */
export function keyOf(version, model) {
  return version.model === model.name ? version.version : `${version.version}@${version.model}`;
}

/** Whether a version of another model answers the same questions as `first`. */
export function fitsBeside(version, first) {
  const fields = fieldsOf(version);
  return fields !== "" && fields === (first ? fieldsOf(first) : null);
}

function fieldsOf({ description }) {
  if (!description) return "";
  const plain = ({ name, kind }) => [name, kind];
  return JSON.stringify([description.inputs.map(plain), plain(description.output)]);
}
