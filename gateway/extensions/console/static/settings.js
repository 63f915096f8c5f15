/* Settings of a search, typed as a line each, such as `alpha=0.4 rerank=true`. */

const SETTINGS_MAX = 4;

const mistake = (detail) => Object.assign(new Error("Correct the settings."), { title: "Invalid field", errors: [{ field: "settings", detail }] });

/** Each line as {name, fields}; a value is JSON, or else a word. */
export function readSettings(text) {
  const lines = text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (lines.length > SETTINGS_MAX) throw mistake(`must be at most ${SETTINGS_MAX}`);
  return lines.map((name) => ({ name, fields: Object.fromEntries(name.split(/\s+(?=[a-z_]+=)/).map(readField)) }));
}

function readField(part) {
  const [, name, value] = /^([a-z_]+)=(.*)$/s.exec(part) ?? [];
  if (name === undefined) throw mistake(`must have NAME=VALUE, and not “${part}”`);
  try {
    return [name, JSON.parse(value)];
  } catch {
    return [name, value];
  }
}
