// Columns of values as rows to ask, and what was answered as rows again.

/**
 * `{source: ["a", "b"], question: ["who?"]}` to one row for each value of the longest column; a
 * column of one value stands in every row. Columns of other lengths give the rows that are whole.
 */
export function rowsOf(columns) {
  const lengths = Object.values(columns).map((values) => values.length);
  if (lengths.includes(0)) return [];
  const several = lengths.filter((length) => length > 1);
  const count = several.length ? Math.min(...several) : 1;
  return Array.from({ length: count }, (_, i) =>
    Object.fromEntries(
      Object.entries(columns).map(([name, values]) => [name, values.length > 1 ? values[i] : values[0]]),
    ),
  );
}

/** `[{source: "a"}, {source: "b"}]` to `{source: ["a", "b"]}`. */
export function columnsOf(rows) {
  return Object.fromEntries(
    Object.keys(rows[0]).map((name) => [name, rows.map((row) => row[name])]),
  );
}

/** The outputs of one row. */
export function rowOf(outputs, index) {
  return Object.fromEntries(Object.entries(outputs).map(([name, rows]) => [name, rows[index]]));
}
